// How a lease asks for more time: on its holder's demand, and by the keeper's renewals.
#include <algorithm>
#include <exception>
#include <thread>

#include <tranca/error.hpp>
#include <tranca/keeper.hpp>
#include <tranca/lease.hpp>

#include "lease_time.hpp"

namespace tranca {

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
    const std::lock_guard lock{asking_};
    if (clock::now() >= safe_until()) lose();
    if (state_ == state::held) ask_to_extend(ttl.value_or(rules_.ttl()));
    return state_ == state::held;
}

void lease::ask_to_extend(milliseconds ttl) {
    const auto sent = clock::now();
    try {
        const auto usual = pool_->where().command_timeout;
        const auto deadline = safe_until() - sent > usual ? std::nullopt : std::optional{safe_until()};
        const auto found = repeat_while_temporary(extend_call(ttl), deadline);
        believe(found.answer, found.sent, ttl);
    } catch (const error& failure) {
        // A shorter ttl may have been set; the holder believes the shorter one.
        if (failure.in_doubt() && rules_.safe_until(sent, ttl) < safe_until()) set_times(sent, ttl);
        if (failure.reason() == errc::wrong_type) lose();
        throw;
    }
    watch_again();
}

// Native commands say OK where a script says 1.
void lease::believe(const reply& answer, clock::time_point sent, milliseconds ttl) {
    const bool ours = answer.is_ok() || (!answer.is_nil() && answer.integer() == 1);
    if (ours) set_times(sent, ttl);
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

std::optional<repeatable_call> lease::begin_renewal() {
    if (inherited()) return std::nullopt;
    if (!asking_.try_lock()) {
        // Its holder is asking: to be tried again, should that fail.
        repeat_renewal_soon();
        watch_again();
        return std::nullopt;
    }
    try {
        if (state_ == state::held && clock::now() < safe_until()) return extend_call(milliseconds{ttl_});
    } catch (const std::exception&) {
        // No memory to ask: tried again below.
    }
    asking_.unlock();
    return std::nullopt;
}

void lease::finish_renewal(const reply* answer, clock::time_point sent) noexcept {
    bool renewed = false;
    try {
        const bool wrong_type =
            answer != nullptr && answer->is_error() && classify_error_reply(answer->text()) == errc::wrong_type;
        if (wrong_type) lose();
        if (answer != nullptr && !answer->is_error()) {
            believe(*answer, sent, milliseconds{ttl_});
            renewed = state_ == state::held;
        }
    } catch (const std::exception&) {
        // Not an answer to what was asked: the matter stays open until the time is over.
    }
    if (!renewed && state_ == state::held) repeat_renewal_soon();
    asking_.unlock();
    if (is_lost()) keeper_of(*pool_).announce(shared_from_this());
    else watch_again();
    if (renewed) pool_->report(event::kind::renewed, name_);
}

void lease::repeat_renewal_soon() noexcept {
    renew_at_ = count(clock::now() + std::max(rules_.renew_every() / 8, pause_between_repeats));
}

lease::answered lease::repeat_while_temporary(const repeatable_call& call, std::optional<clock::time_point> deadline) {
    const auto until = deadline.value_or(deadline_after(pool_->where().command_timeout));
    for (;;) {
        const auto sent = clock::now();
        try {
            return {run(*pool_, call, deadline), sent};
        } catch (const error& failure) {
            if (!failure.temporary() || clock::now() + pause_between_repeats >= until) throw;
        }
        std::this_thread::sleep_for(pause_between_repeats);
    }
}

}  // namespace tranca
