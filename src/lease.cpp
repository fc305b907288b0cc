#include <tranca/lease.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/keeper.hpp>

#include "fork_guard.hpp"

namespace tranca {

lease::lease(std::shared_ptr<connection_pool> pool, key name, const lease_clock& rules, const token& owner)
    : pool_(std::move(pool)), name_(std::move(name)), owner_(owner), generation_(fork_generation()), belief_(rules) {}

bool lease::inherited() const noexcept { return generation_ != fork_generation(); }

void lease::begin(clock::time_point sent) noexcept {
    belief_.begin(sent, clock::now());
    // Nobody gets one that is over already: nothing begins that could be lost.
    if (clock::now() < safe_until()) start();
}

void lease::carry_on(const lease& previous) noexcept {
    belief_.carry_on(previous.belief_, clock::now());
    start();
}

void lease::start() noexcept {
    state_ = state::held;
    if (rules().renew_every() > milliseconds::zero()) ensure_watched();
}

void lease::ensure_watched() noexcept {
    try {
        const std::lock_guard lock{listening_};
        if (watched_ || state_ != state::held || rules().is_endless()) return;
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

clock::time_point lease::safe_until() const noexcept { return belief_.safe_until(); }

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
        } else if (state_ == state::held && !rules().is_endless()) {
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

clock::time_point lease::next_check() const noexcept { return std::min(belief_.renew_at(), safe_until()); }

lease::checkup lease::check_time(clock::time_point now) noexcept {
    if (state_ != state::held) return {};
    if (now >= safe_until()) {
        lose();
        return {};
    }
    const bool renew = belief_.renewal_due(now);
    return {.next = next_check(), .renew = renew};
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
    on_end();  // before the listeners: one of them may wait for a thread that queues for this lock
    listeners->request_stop();
}

}  // namespace tranca
