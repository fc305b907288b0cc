// How a lease ends: released, handed on, left to its ttl, or by its guard's destructor.
#include <exception>
#include <string>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/keeper.hpp>
#include <tranca/lease.hpp>

#include "lease_time.hpp"

namespace tranca {

namespace {

release_result decode_release(const reply& answer) {
    switch (answer.integer()) {
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
        const std::lock_guard lock{asking_};
        if (state_ == state::ended || state_ == state::idle) return release_result::expired;
        found = give_up(deadline);
        if (found.result != release_result::unknown) state_ = state::ended;
    }
    // With nothing locked, since an event sink may use the guard.
    on_end();
    if (found.result != release_result::released) pool_->report(event_of(found.result), name_, found.detail);
    else if (pool_->has_sink()) pool_->report(event::kind::released, name_, {}, clock::now() - begun_);
    return found.result;
}

lease::outcome lease::give_up(std::optional<clock::time_point> deadline) noexcept {
    const bool in_time = held();
    stop_watching();
    if (in_time && pass_on()) return {release_result::released, {}};
    state_ = state::releasing;
    if (in_time && may_defer() && release_later()) return {release_result::released, {}};
    return ask_to_release(deadline);
}

bool lease::release_later() noexcept {
    try {
        auto redis = pool_->borrow();
        const auto call = release_call();
        request storage;
        redis->post(request_of(call, *redis, std::nullopt, storage),
                    [self = shared_from_this()](const reply* answer) { self->hear_of_release(answer); });
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void lease::hear_of_release(const reply* answer) noexcept {
    outcome found;
    if (answer != nullptr && answer->what() == reply_view::kind::integer) found.result = decode_release(*answer);
    else found = ask_to_release(std::nullopt);  // unheard, or a server that does not know the script
    if (found.result != release_result::released) pool_->report(event_of(found.result), name_, found.detail);
}

void lease::stop_watching() noexcept {
    const std::lock_guard lock{listening_};
    if (watched_) keeper_of(*pool_).forget(*this);
    watched_ = false;
}

lease::outcome lease::ask_to_release(std::optional<clock::time_point> deadline) noexcept {
    auto result = release_result::unknown;
    std::string detail;
    try {
        result = decode_release(repeat_while_temporary(release_call(), deadline).answer);
    } catch (const error& failure) {
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
    const auto over = time_point(expires_at_);
    if (now >= over) {
        pool_->report(event::kind::release_expired, name_, "the lease had ended before its guard was destroyed");
        abandon();
        return;
    }
    const bool plenty = over - now > pool_->where().command_timeout;
    static_cast<void>(release_within(plenty ? std::nullopt : std::optional{over}));
}

}  // namespace tranca
