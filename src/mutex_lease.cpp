#include <tranca/mutex_lease.hpp>

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace tranca {

namespace {

// One for the winner, one for each thread it may be passed on to.
constexpr std::uint64_t fences_reserved = gate::handoff_limit + 1;

constexpr std::size_t longest_label = 200;
constexpr std::size_t token_size = 32;

std::uint64_t fence_from(std::string_view digits) {
    std::uint64_t number = 0;
    const auto end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number);
    if (failure != std::errc{} || stop != end) throw error(errc::protocol, "a fence that is no number");
    return number;
}

// Leases of the same kind can be handed on from one thread to another: nobody gets what it did not ask for.
std::string kind_of(const mutex_options& options) {
    const auto& lease = options.lease;
    const auto count = [](const std::optional<milliseconds>& value) { return value ? value->count() : -1; };
    return fmt::format("|{}|{}|{}|{}|{}|{}|{}", lease.ttl.count(), count(lease.renew_every), count(lease.margin),
                       lease.max_hold.count(), static_cast<int>(options.fencing), static_cast<int>(options.release),
                       options.label);
}

}  // namespace

std::shared_ptr<const mutex_core> make_mutex_core(const std::shared_ptr<connection_pool>& pool, const key& name,
                                                  const mutex_options& options) {
    if (options.label.size() > longest_label)
        throw error(errc::invalid_argument, "label: at most 200 bytes, not " + std::to_string(options.label.size()));
    auto complete = options;
    if (complete.label.empty()) complete.label = process_label();
    auto kind = kind_of(complete);
    auto queue = gate_of(*pool, name, kind);
    return std::make_shared<const mutex_core>(mutex_core{.pool = pool,
                                                         .name = name,
                                                         .options = std::move(complete),
                                                         .rules = lease_clock{options.lease},
                                                         .fence_key = helper_key(name.bytes(), "fence"),
                                                         .wake_key = helper_key(name.bytes(), "wake"),
                                                         .mark_key = helper_key(name.bytes(), "wait"),
                                                         .kind = std::move(kind),
                                                         .queue = std::move(queue)});
}

bool force_release_of(const mutex_core& core) {
    const auto value = core.pool->with_connection(resend::safe, [&](connection& redis) {
        return redis.command(request{"GET", core.name});
    });
    if (value.is_nil()) return false;
    const auto owner = value.text().substr(0, token_size);
    return run(*core.pool, scripts::release_mutex().call({core.name.bytes(), core.wake_key, core.mark_key}, owner))
               .integer() == 1;
}

script_call mutex_lease::acquire_call(bool waits) const {
    const std::string_view mark = waits ? "1" : "0";
    if (core_->options.fencing == fencing::off)
        return scripts::acquire_unfenced().call({name().bytes(), core_->mark_key}, owner(), core_->options.label,
                                                usual_ttl(), mark);
    const auto seen = core_->pool->largest_fence();
    const auto floor = seen == 0 ? std::string{} : std::to_string(seen + 1);
    return scripts::acquire_mutex().call({name().bytes(), core_->fence_key, core_->mark_key}, owner(),
                                         core_->options.label, usual_ttl(), floor, fences_reserved, mark);
}

contender::verdict mutex_lease::hear(const reply& answer) {
    if (answer.size() == 1) {
        const auto left = answer[0].integer();
        return {.granted = false, .busy_for = left < 0 ? milliseconds::max() : milliseconds{left}};
    }
    waiters_ = answer[1].integer() != 0;
    if (core_->options.fencing == fencing::on) {
        fence_ = fence_from(answer[0].text());
        last_fence_ = *fence_ + fences_reserved - 1;
        core_->pool->remember_fence(last_fence_);
    }
    return {.granted = true};
}

bool mutex_lease::pass_on() {
    return queue_->pass_on(*this, [this] { return next_holder(); });
}

std::shared_ptr<lease> mutex_lease::next_holder() const {
    // With less than half of it left, the next holder is better served by a fresh lease.
    if (safe_until() - clock::now() < usual_ttl() / 2) return nullptr;
    std::optional<std::uint64_t> next;
    if (fence_) {
        if (*fence_ >= last_fence_) return nullptr;
        next = *fence_ + 1;
    }
    std::shared_ptr<mutex_lease> made{new mutex_lease(*this, next)};
    made->carry_on(*this);
    return made;
}

}  // namespace tranca
