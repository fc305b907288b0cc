#include <tranca/mutex_lease.hpp>

#include <fmt/format.h>

#include "fence_text.hpp"

namespace tranca {

namespace {

constexpr unsigned few_handoffs = 8;
constexpr std::size_t token_size = 32;

// Leases of the same kind can be handed on from one thread to another: nobody gets what it did not ask for.
std::string kind_of(const mutex_options& options) {
    const auto& lease = options.lease;
    const auto count = [](const std::optional<milliseconds>& value) { return value ? value->count() : -1; };
    return fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}", lease.ttl.count(), count(lease.renew_every), count(lease.margin),
                       lease.max_hold.count(), static_cast<int>(options.fencing), static_cast<int>(options.release),
                       static_cast<int>(options.waiters), options.label);
}

}  // namespace

std::shared_ptr<const mutex_core> make_mutex_core(const std::shared_ptr<connection_pool>& pool, const key& name,
                                                  const mutex_options& options) {
    auto complete = options;
    complete.label = label_or_default(options.label);
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

// As the scripts write it.
std::string mutex_lease::value() const {
    std::string made{owner().text()};
    made.append("|");
    if (first_fence_ != 0) made.append(std::to_string(first_fence_));
    return made.append("|").append(core_->options.label);
}

script_call mutex_lease::acquire_call(bool waits) const {
    const bool leaves_mark = waits && core_->options.waiters == waiters::expected;
    const std::string_view mark = leaves_mark ? "1" : "0";
    if (core_->options.fencing == fencing::on) {
        const std::string_view tell = core_->options.release == release_mode::deferred ? "1" : "0";
        // One for each thread it may be passed on to. Many of them run ahead of the clock, which costs the next grant more.
        const auto reserved = queue_->crowded() ? gate::handoff_limit : few_handoffs;
        return scripts::acquire_mutex().call({name().bytes(), core_->fence_key, core_->mark_key}, owner(),
                                             core_->options.label, usual_ttl(), fence_floor(*core_->pool), reserved,
                                             mark, tell);
    }
    script_call made = scripts::acquire_unfenced().call({name().bytes(), core_->mark_key}, owner(),
                                                        core_->options.label, usual_ttl(), mark);
    if (!waits)
        made.native.push_back(
            {&server_features::set_nx_get, request{"SET", name(), value(), "NX", "GET", "PX", usual_ttl()}});
    return made;
}

contender::verdict mutex_lease::hear(const reply& answer) {
    if (answer.is_nil()) return {.granted = true};  // the native form: there was nothing before
    if (answer.what() == reply_view::kind::text) return {.granted = answer.text().starts_with(owner().text())};
    if (answer.size() == 1) {
        const auto left = answer[0].integer();
        return {.granted = false, .busy_for = left < 0 ? milliseconds::max() : milliseconds{left}};
    }
    waiters_ = answer[1].integer() != 0;
    if (core_->options.fencing == fencing::on) {
        fence_ = first_fence_ = fence_from(answer[0].text());
        last_fence_ = first_fence_ + fence_from(answer[2].text());
        core_->pool->remember_fence(first_fence_);
    }
    return {.granted = true};
}

repeatable_call mutex_lease::release_call() const {
    auto made = scripts::release_mutex().call({name().bytes(), core_->wake_key, core_->mark_key}, owner());
    // A grant whose answer was lost has a fence that is not known here: then the script compares the token alone.
    const bool knows_value = core_->options.fencing == fencing::off || first_fence_ != 0;
    if (core_->options.waiters == waiters::none && knows_value) {
        made.native.push_back({&server_features::delifeq, request{"DELIFEQ", name(), value()}});
        made.native.push_back({&server_features::delex, request{"DELEX", name(), "IFEQ", value()}});
    }
    return made;
}

repeatable_call mutex_lease::extend_call(milliseconds ttl) const {
    auto made = scripts::extend_mutex().call({name().bytes()}, owner(), ttl);
    const auto mine = value();
    made.native.push_back({&server_features::if_equal, request{"SET", name(), mine, "IFEQ", mine, "PX", ttl}});
    return made;
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
        core_->pool->remember_fence(*next);
    }
    std::shared_ptr<mutex_lease> made{new mutex_lease(*this, next)};
    made->carry_on(*this);
    return made;
}

}  // namespace tranca
