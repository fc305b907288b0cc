#include <tranca/lease.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/keeper.hpp>

#include "fork_guard.hpp"
#include "lease_time.hpp"

namespace tranca {

lease::lease(std::shared_ptr<connection_pool> pool, key name, const lease_clock& rules, const token& owner)
    : pool_(std::move(pool)), name_(std::move(name)), owner_(owner), rules_(rules), generation_(fork_generation()) {}

bool lease::inherited() const noexcept { return generation_ != fork_generation(); }

void lease::set_times(clock::time_point sent, milliseconds ttl) noexcept {
    ttl_ = ttl.count();
    const auto sure = sure_of(ttl);
    safe_until_ = count(rules_.safe_until(sent, sure));
    expires_at_ = count(rules_.expires_at(sent, sure));
    schedule_renewal(sent);
}

void lease::schedule_renewal(clock::time_point from) noexcept {
    auto next = clock::time_point::max();
    if (rules_.renew_every() > milliseconds::zero()) {
        // A ttl that extend() made shorter is renewed sooner.
        const auto pause = std::min(rules_.renew_every(), sure_of(milliseconds{ttl_}) / 3);
        if (from + pause <= rules_.renewed_until(begun_)) next = from + pause;
    }
    renew_at_ = count(next);
}

void lease::begin(clock::time_point sent) noexcept {
    begun_ = sent;
    set_times(sent, rules_.ttl());
    gone_by_ = expires_at_.load();
    // Nobody gets one that is over already: nothing begins that could be lost.
    if (clock::now() < safe_until()) start();
}

void lease::carry_on(const lease& previous) noexcept {
    begun_ = clock::now();
    ttl_ = rules_.ttl().count();  // whatever the one before had extended it by
    safe_until_ = previous.safe_until_.load();
    expires_at_ = previous.expires_at_.load();
    gone_by_ = previous.gone_by_.load();
    least_unheard_ = previous.least_unheard_;
    // Due when it would have been due, but counted from the new holder's beginning.
    schedule_renewal(begun_);
    if (time_point(previous.renew_at_) < time_point(renew_at_)) renew_at_ = previous.renew_at_.load();
    start();
}

void lease::start() noexcept {
    state_ = state::held;
    if (rules_.renew_every() > milliseconds::zero()) ensure_watched();
}

void lease::ensure_watched() noexcept {
    try {
        const std::lock_guard lock{listening_};
        if (watched_ || state_ != state::held || rules_.is_endless()) return;
        keeper_of(*pool_).watch(shared_from_this());
        watched_ = true;
    } catch (const std::exception&) {
        // No thread to be had: it is not renewed, and its guard says so in time.
    }
}

bool lease::held() const noexcept { return state_ == state::held && clock::now() < safe_until() && !inherited(); }

bool lease::given_up() const noexcept {
    const auto now = state_.load();
    return now != state::held && now != state::lost;
}

clock::time_point lease::safe_until() const noexcept { return time_point(safe_until_); }

std::stop_token lease::lost() noexcept {
    if (inherited()) {
        std::stop_source gone;
        gone.request_stop();
        return gone.get_token();
    }
    const std::lock_guard lock{listening_};
    if (loss_) return loss_->get_token();
    loss_.emplace();
    try {
        if (state_ == state::lost || (state_ == state::held && clock::now() >= safe_until())) {
            loss_->request_stop();
        } else if (state_ == state::held && !rules_.is_endless()) {
            if (!watched_) keeper_of(*pool_).watch(shared_from_this());
            watched_ = true;
        }
    } catch (const std::exception&) {
        loss_->request_stop();  // nobody can watch it, so nobody may rely on it
    }
    return loss_->get_token();
}

void lease::lose() noexcept {
    auto expected = state::held;
    state_.compare_exchange_strong(expected, state::lost);
}

clock::time_point lease::next_check() const noexcept { return std::min(time_point(renew_at_), safe_until()); }

lease::checkup lease::check_time(clock::time_point now) noexcept {
    if (state_ != state::held) return {};
    if (now >= safe_until()) {
        lose();
        return {};
    }
    const auto renewal = time_point(renew_at_);
    if (now < renewal) return {.next = std::min(renewal, safe_until())};
    renew_at_ = count(clock::time_point::max());  // until it was tried
    return {.next = safe_until(), .renew = true};
}

void lease::announce_loss() noexcept {
    if (told_.exchange(true)) return;
    std::optional<std::stop_source> listeners;
    {
        const std::lock_guard lock{listening_};
        if (!loss_) loss_.emplace();
        listeners = loss_;
    }
    pool_->report(event::kind::lease_lost, name_, "the lease ended while its guard still held it");
    listeners->request_stop();
    on_end();
}

}  // namespace tranca
