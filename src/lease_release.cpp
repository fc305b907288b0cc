// How a lease ends: released, handed on, left to its ttl, or by its guard's destructor.
#include <exception>
#include <string>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/keeper.hpp>
#include <tranca/lease.hpp>

#include "event_hold.hpp"

namespace tranca {

namespace {

release_result decode_release(std::int64_t answer) noexcept {
    switch (answer) {
    case 1: return release_result::released;
    case 0: return release_result::expired;
    default: return release_result::taken;
    }
}

event::kind event_of(release_result result) noexcept {
    if (result == release_result::expired) return event::kind::release_expired;
    return result == release_result::taken ? event::kind::release_taken : event::kind::release_unknown;
}

}  // namespace

release_result lease::release() noexcept { return release_within(std::nullopt); }

release_result lease::release_within(std::optional<clock::time_point> deadline) noexcept {
    if (inherited()) return release_result::expired;
    const auto self = weak_from_this().lock();  // an event sink may destroy the guard
    outcome found;
    {
        const event_hold until_unlocked;
        const std::lock_guard lock{asking_};
        if (state_ == state::ended || state_ == state::idle) return release_result::expired;
        found = give_up(deadline);
        if (found.result != release_result::unknown) state_ = state::ended;
    }
    // With nothing locked, since an event sink may use the guard.
    on_end();
    if (found.result != release_result::released) pool_->report(event_of(found.result), name_, found.detail);
    else if (pool_->has_sink()) pool_->report(event::kind::released, name_, {}, clock::now() - belief_.begun());
    return found.result;
}

lease::outcome lease::give_up(std::optional<clock::time_point> deadline) noexcept {
    const bool in_time = held();
    stop_watching();
    if (in_time && handed_on()) return {release_result::released, {}};
    state_ = state::releasing;
    // A node of a Cluster may answer that it is not the one to ask.
    if (in_time && may_defer() && !pool_->is_cluster() && release_later()) return {release_result::released, {}};
    return ask_to_release(in_time, deadline);
}

bool lease::handed_on() noexcept {
    try {
        return pass_on();
    } catch (const std::exception&) {
        return false;  // no memory for the next one: released instead
    }
}

bool lease::release_later() noexcept {
    try {
        auto redis = pool_->borrow(name_.bytes());
        const auto call = release_call();
        request storage;
        redis->post(request_of(call, *redis, std::nullopt, storage),
                    [self = shared_from_this()](const reply* answer) { self->hear_of_release(answer); });
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

// What was sent while the lease was held ended it in time. Was the answer lost, then finding nothing, or another owner, when
// it is sent again is what follows from that.
void lease::hear_of_release(const reply* answer) noexcept {
    outcome found;
    if (answer != nullptr && answer->what() == reply_view::kind::integer)
        found.result = decode_release(answer->integer());
    else found = ask_to_release(false, std::nullopt);  // unheard, or a server that does not know the script
    const bool is_told =
        found.result == release_result::released || (answer == nullptr && found.result != release_result::unknown);
    if (!is_told) pool_->report(event_of(found.result), name_, found.detail);
}

void lease::stop_watching() noexcept {
    const std::lock_guard lock{listening_};
    if (watched_) keeper_of(*pool_).forget(*this);
    watched_ = false;
}

lease::outcome lease::ask_to_release(bool in_time, std::optional<clock::time_point> deadline) noexcept {
    auto result = release_result::unknown;
    std::string detail;
    try {
        const auto found = repeat_while_temporary(release_call(), deadline);
        result = decode_release(found.answer);
        unheard_release_ = unheard_release_ || (in_time && found.was_unheard);
        // It had been released before, by a sending of which nobody heard, or of which only some servers had answered.
        if (result == release_result::expired && (unheard_release_ || found.was_partial))
            result = release_result::released;
        // Then who owns it now may have taken it fairly, or not.
        if (result == release_result::taken && unheard_release_) result = release_result::unknown;
    } catch (const error& failure) {
        unheard_release_ = unheard_release_ || (in_time && failure.in_doubt());
        if (failure.reason() == errc::wrong_type) result = release_result::taken;
        detail = failure.what();
    } catch (const std::exception& failure) {
        detail = failure.what();
    }
    return {result, std::move(detail)};
}

void lease::abandon() noexcept {
    if (inherited()) return;
    const auto self = weak_from_this().lock();
    {
        const std::lock_guard lock{asking_};
        state_ = state::ended;
        stop_watching();
    }
    on_end();
}

void lease::end() noexcept {
    if (state_ == state::ended || state_ == state::idle || inherited()) return;
    const auto now = clock::now();
    const auto over = gone_by();
    if (now >= over) {
        pool_->report(event::kind::release_expired, name_, "the lease had ended before its guard was destroyed");
        abandon();
        return;
    }
    const bool plenty = over - now > pool_->where().command_timeout;
    static_cast<void>(release_within(plenty ? std::nullopt : std::optional{over}));
}

}  // namespace tranca
