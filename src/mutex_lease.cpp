#include <tranca/mutex_lease.hpp>

#include <fmt/format.h>

#include "fence_text.hpp"

namespace tranca {

namespace {

constexpr unsigned few_handoffs = 8;  // as the scripts know it
constexpr std::size_t token_size = 32;

// Leases of the same kind can be handed on from one thread to another: nobody gets what it did not ask for.
std::string kind_of(const mutex_options& options) {
    const auto& lease = options.lease;
    const auto count = [](const std::optional<milliseconds>& value) { return value ? value->count() : -1; };
    return fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", lease.ttl.count(), count(lease.renew_every),
                       count(lease.margin), lease.max_hold.count(), static_cast<int>(options.fencing),
                       static_cast<int>(options.release), static_cast<int>(options.waiters), options.replicas.count,
                       options.replicas.on_disk, options.label);
}

}  // namespace

std::shared_ptr<const mutex_core> make_mutex_core(const std::shared_ptr<connection_pool>& pool, const key& name,
                                                  const mutex_options& options) {
    auto complete = options;
    complete.label = label_or_default(options.label);
    const bool is_fair = options.fairness == fairness::on;
    require_waiter_lease(options.waiter_lease);
    require_replicas(options.replicas, options.lease.ttl);
    if (is_fair && options.waiters == waiters::none)
        throw error(errc::invalid_argument, "fairness: a lock that nobody waits for has no order");
    if (is_fair) complete.fencing = fencing::on;  // its script makes a fence in any case
    auto kind = kind_of(complete);
    auto queue = is_fair ? nullptr : gate_of(*pool, name, kind);
    return std::make_shared<const mutex_core>(mutex_core{.pool = pool,
                                                         .name = name,
                                                         .options = std::move(complete),
                                                         .rules = lease_clock{options.lease},
                                                         .fence_key = helper_key(name.bytes(), "fence"),
                                                         .wake_key = helper_key(name.bytes(), "wake"),
                                                         .mark_key = helper_key(name.bytes(), "wait"),
                                                         .queue_key = helper_key(name.bytes(), "queue"),
                                                         .seen_key = helper_key(name.bytes(), "seen"),
                                                         .kind = std::move(kind),
                                                         .queue = std::move(queue)});
}

bool force_release_of(const mutex_core& core) {
    const auto value = core.pool->with_connection(resend::safe, core.name.bytes(), [&](connection& redis) {
        return redis.command(request{"GET", core.name});
    });
    if (value.is_nil()) return false;
    const auto call = core.release_call(value.text().substr(0, token_size));
    try {
        return run(*core.pool, call, std::nullopt, resend::unsafe).integer() == 1;
    } catch (const error& failure) {
        if (failure.reason() != errc::connection_lost || !failure.in_doubt()) throw;
    }
    // Whatever is found now, the holder that was seen is gone: perhaps by the first sending.
    try {
        static_cast<void>(run(*core.pool, call));
    } catch (const error& failure) {
        throw failure.in_doubt_if(true);
    }
    return true;
}

// As the scripts write it.
std::string mutex_lease::value_of(const token& whose) const {
    std::string made{whose.text()};
    made.append("|");
    if (first_fence_ != 0) made.append(std::to_string(first_fence_));
    return made.append("|").append(core_->options.label);
}

repeatable_call mutex_core::release_call(std::string_view owner) const {
    if (is_fair()) return scripts::release_fair_mutex().call({name.bytes(), queue_key, seen_key, wake_key}, owner);
    return scripts::release_mutex().call({name.bytes(), wake_key, mark_key}, owner);
}

script_call mutex_lease::acquire_in_line(bool waits) const {
    const std::string_view tell = core_->options.release == release_mode::deferred ? "1" : "0";
    const std::string_view mark = waits ? "1" : "0";
    return scripts::acquire_fair_mutex().call(
        {name().bytes(), core_->fence_key, core_->queue_key, core_->seen_key, core_->wake_key}, owner(),
        core_->options.label, usual_ttl(), fence_floor(*core_->pool), few_handoffs, mark, tell,
        core_->options.waiter_lease);
}

script_call mutex_lease::acquire_call(bool waits) const {
    if (core_->is_fair()) return acquire_in_line(waits);
    const bool leaves_mark = waits && core_->options.waiters == waiters::expected;
    const std::string_view mark = leaves_mark ? "1" : "0";
    if (core_->options.fencing == fencing::on) {
        const std::string_view tell = core_->options.release == release_mode::deferred ? "1" : "0";
        // One for each thread it may be passed on to. Many of them run ahead of the clock, which costs the next grant more.
        const auto reserved = queue_->crowded() ? gate::most_handoffs : few_handoffs;
        return scripts::acquire_mutex().call({name().bytes(), core_->fence_key, core_->mark_key}, owner(),
                                             core_->options.label, usual_ttl(), fence_floor(*core_->pool), reserved,
                                             mark, tell);
    }
    script_call made = scripts::acquire_unfenced().call({name().bytes(), core_->mark_key}, owner(),
                                                        core_->options.label, usual_ttl(), mark);
    if (!waits)
        made.native.push_back(
            {&server_features::set_nx_get, request{"SET", name(), value_of(owner()), "NX", "GET", "PX", usual_ttl()}});
    return made;
}

contender::verdict mutex_lease::hear(const reply& answer) {
    const bool is_fenced = core_->options.fencing == fencing::on;
    const bool is_text = answer.what() == reply_view::kind::text;
    // The native form, which makes no fence: there was nothing before.
    if (answer.is_nil() && !is_fenced) return {.granted = true};
    if (is_text && !is_fenced) return {.granted = answer.text().starts_with(owner().text())};
    if (!is_text && answer.size() == 1) return busy(answer[0].integer());
    const bool is_grant = is_text || (is_fenced ? answer.size() == 3 : answer.size() == 2 && answer[0].text().empty());
    if (!is_grant) throw error(errc::protocol, "not the answer to an acquire");
    waiters_ = is_text || answer[1].integer() != 0;
    if (is_fenced)
        hear_fence(is_text ? answer.text() : answer[0].text(), is_text ? few_handoffs : fence_from(answer[2].text()));
    return {.granted = true};
}

void mutex_lease::hear_fence(std::string_view digits, std::uint64_t reserved) {
    if (reserved > gate::most_handoffs) throw error(errc::protocol, "more fences than were asked for");
    fence_ = first_fence_ = granted_fence(digits);
    last_fence_ = first_fence_ + reserved;
    core_->pool->remember_fence(first_fence_);
}

repeatable_call mutex_lease::release_call_of(const token& whose) const {
    auto made = core_->release_call(whose.text());
    // A grant whose answer was lost has a fence that is not known here: then the script compares the token alone.
    const bool knows_value = core_->options.fencing == fencing::off || first_fence_ != 0;
    if (core_->options.waiters == waiters::none && knows_value) {
        made.native.push_back({&server_features::delifeq, request{"DELIFEQ", name(), value_of(whose)}});
        made.native.push_back({&server_features::delex, request{"DELEX", name(), "IFEQ", value_of(whose)}});
    }
    return made;
}

repeatable_call mutex_lease::extend_call(milliseconds ttl) const {
    auto made = scripts::extend_mutex().call({name().bytes()}, owner(), ttl);
    const auto mine = value_of(owner());
    made.native.push_back({&server_features::if_equal, request{"SET", name(), mine, "IFEQ", mine, "PX", ttl}});
    return made;
}

bool mutex_lease::pass_on() {
    return queue_ && queue_->pass_on(*this, [this] { return next_holder(); });
}

std::shared_ptr<lease> mutex_lease::next_holder() const {
    const auto now = clock::now();
    // With less than half of it left, the next holder is better served by a fresh lease; with more than a fresh one has, by an
    // extension, it did not ask for that.
    if (safe_until() - now < usual_ttl() / 2 || safe_until() > rules().safe_until(now)) return nullptr;
    std::optional<std::uint64_t> next;
    if (fence_) {
        if (*fence_ >= last_fence_) return nullptr;
        next = *fence_ + 1;
        core_->pool->remember_fence(*next);
    }
    std::shared_ptr<mutex_lease> made{new mutex_lease(*this, next)};
    made->acknowledged_by(replicas());
    made->carry_on(*this);
    return made;
}

}  // namespace tranca
