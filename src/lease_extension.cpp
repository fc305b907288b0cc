// How a lease asks for more time: on its holder's demand, and by the keeper's renewals.
#include <algorithm>
#include <exception>
#include <thread>

#include <tranca/error.hpp>
#include <tranca/keeper.hpp>
#include <tranca/lease.hpp>

#include "event_hold.hpp"

namespace tranca {

namespace {

// Native commands say OK where a script says 1, and nil where it says something else.
std::int64_t decode(const reply& answer) {
    if (answer.is_nil()) return 0;
    return answer.is_ok() ? 1 : answer.integer();
}

}  // namespace

// Tells of a loss once the lease is no longer locked, since a listener may call back into it.
class lease::loss_teller {
public:
    explicit loss_teller(lease& watched) noexcept : lease_(watched) {}
    loss_teller(const loss_teller&) = delete;
    loss_teller& operator=(const loss_teller&) = delete;
    ~loss_teller() {
        if (lease_.is_lost()) lease_.announce_loss();
    }

private:
    lease& lease_;
};

bool lease::extend(std::optional<milliseconds> ttl) {
    if (ttl) require_positive(*ttl, "the ttl of an extension");
    if (inherited()) return false;
    const auto self = shared_from_this();  // a listener may destroy the guard
    const loss_teller after_unlocking{*this};
    const event_hold until_unlocked;
    const std::lock_guard lock{asking_};
    if (clock::now() >= safe_until()) lose();
    if (state_ == state::held) ask_to_extend(ttl.value_or(rules().ttl()));
    return state_ == state::held;
}

void lease::ask_to_extend(milliseconds ttl) {
    const auto sent = clock::now();
    const auto deadline =
        safe_until() - sent > pool_->where().command_timeout ? std::nullopt : std::optional{safe_until()};
    const auto before = belief_.expect(sent, ttl);
    if (before) watch_again();  // told in time, should the answer be late
    try {
        const auto found = repeat_while_temporary(extend_call(ttl), deadline);
        if (found.was_unheard) belief_.perhaps_extended(ttl, clock::now());
        believe(found.answer, found.sent, ttl);
    } catch (const error& failure) {
        // It may have been set, too, where the answer was none to what was asked.
        const bool is_nonsense = failure.reason() == errc::protocol && !failure.in_doubt();
        const bool may_be_set = failure.in_doubt() || is_nonsense;
        if (may_be_set) belief_.perhaps_extended(ttl, clock::now());
        else if (before) belief_.restore(*before);
        if (failure.reason() == errc::wrong_type) lose();
        watch_again();
        if (is_nonsense) throw failure.in_doubt_if(true);
        throw;
    }
    watch_again();
}

void lease::believe(std::int64_t answer, clock::time_point sent, milliseconds ttl) noexcept {
    const bool ours = answer == 1;
    if (ours) belief_.extended(sent, clock::now(), ttl);
    if (!ours || clock::now() >= safe_until()) lose();
}

void lease::watch_again() noexcept {
    const std::lock_guard lock{listening_};
    if (!watched_ || state_ != state::held) return;
    try {
        keeper_of(*pool_).watch(shared_from_this());
    } catch (const std::exception&) {
        // No memory: the keeper looks at the old time, and again from there.
    }
}

// Half of what is left of it at most, so that there is time for another try.
clock::time_point lease::renewal_deadline(clock::time_point sent) const noexcept {
    return std::min(deadline_after(pool_->where().command_timeout, sent), sent + (safe_until() - sent) / 2);
}

std::optional<repeatable_call> lease::begin_renewal() {
    if (inherited()) return std::nullopt;
    if (!asking_.try_lock()) {
        // Its holder is asking: to be tried again, should that fail.
        belief_.renew_soon(clock::now());
        watch_again();
        return std::nullopt;
    }
    try {
        if (state_ == state::held && clock::now() < safe_until()) return extend_call(belief_.ttl());
    } catch (const std::exception&) {
        // No memory to ask: tried again below.
    }
    asking_.unlock();
    return std::nullopt;
}

bool lease::finish_renewal(const reply* answer, clock::time_point sent) noexcept {
    std::optional<std::int64_t> heard;
    try {
        const bool wrong_type =
            answer != nullptr && answer->is_error() && classify_error_reply(answer->text()) == errc::wrong_type;
        if (wrong_type) lose();
        if (answer != nullptr && !answer->is_error()) heard = decode(*answer);
    } catch (const std::exception&) {
        // Not an answer to what was asked: the matter stays open until the time is over.
    }
    const bool was_refused = answer != nullptr && answer->is_error();
    return heed(heard, sent, was_refused ? effect::none : effect::in_doubt);
}

void lease::renew_apart() noexcept {
    const auto call = begin_renewal();
    if (!call) return;
    const auto sent = clock::now();
    std::optional<std::int64_t> heard;
    auto unanswered = effect::none;
    try {
        // Sent once: what is sent again by itself would hide that the first may come late.
        heard = ask(*call, renewal_deadline(sent), resend::unsafe);
    } catch (const error& failure) {
        if (failure.reason() == errc::wrong_type) lose();
        if (failure.in_doubt()) unanswered = effect::in_doubt;
    } catch (const std::exception&) {
        unanswered = effect::in_doubt;  // no memory: as if there were no answer
    }
    if (heed(heard, sent, unanswered)) tell_renewed();
}

bool lease::heed(const std::optional<std::int64_t>& answer, clock::time_point sent, effect unanswered) noexcept {
    const auto ttl = belief_.ttl();
    if (answer) {
        believe(*answer, sent, ttl);
    } else if (unanswered == effect::in_doubt) {
        belief_.perhaps_extended(ttl, clock::now());
    }
    const bool renewed = answer && state_ == state::held;
    if (!renewed && state_ == state::held) belief_.renew_soon(clock::now());
    asking_.unlock();
    if (is_lost()) keeper_of(*pool_).announce(shared_from_this());
    else watch_again();
    return renewed;
}

void lease::tell_renewed() const noexcept { pool_->report(event::kind::renewed, name_); }

std::int64_t lease::ask(const repeatable_call& call, std::optional<clock::time_point> deadline, resend again) {
    return decode(run(*pool_, call, deadline, again));
}

lease::answered lease::repeat_while_temporary(const repeatable_call& call, std::optional<clock::time_point> deadline) {
    auto until = deadline.value_or(deadline_after(pool_->where().command_timeout));
    bool was_partial = false;
    bool was_unheard = false;
    for (;;) {
        const auto sent = clock::now();
        try {
            return {ask(call, deadline, resend::unsafe), sent, was_partial, was_unheard};
        } catch (const error& failure) {
            // Extending and releasing may be sent again: on another connection, and while there is no master to the next one.
            const bool is_away = failure.reason() == errc::connection_lost ||
                                 (pool_->fails_over() && failure.reason() == errc::connect_failed);
            // A slot on its way to another node arrives there; until then what was asked for stays as it is.
            if (pool_->is_cluster() && failure.reason() == errc::try_again) {
                until = std::max(until, deadline.value_or(belief_.expires_at()));
                was_partial = !call.also.empty();
            }
            was_unheard = was_unheard || failure.in_doubt();
            if (failure.reason() == errc::connection_lost) pool_->drop_idle(name_.bytes());
            if (!(failure.temporary() || is_away) || clock::now() + lease_belief::pause_between_repeats >= until)
                throw failure.in_doubt_if(was_unheard);
        }
        std::this_thread::sleep_for(lease_belief::pause_between_repeats);
    }
}

}  // namespace tranca
