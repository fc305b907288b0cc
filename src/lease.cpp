#include <tranca/lease.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/keeper.hpp>

#include "fork_guard.hpp"

namespace tranca {

namespace {

constexpr milliseconds pause_between_repeats{5};

clock::rep count(clock::time_point time) noexcept { return time.time_since_epoch().count(); }

clock::time_point time_point(clock::rep count) noexcept { return clock::time_point{clock::duration{count}}; }

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

lease::lease(std::shared_ptr<connection_pool> pool, key name, const lease_clock& rules)
    : pool_(std::move(pool)), name_(std::move(name)), rules_(rules), generation_(fork_generation()) {}

bool lease::inherited() const noexcept { return generation_ != fork_generation(); }

void lease::set_times(clock::time_point sent, milliseconds ttl) noexcept {
    safe_until_ = count(rules_.safe_until(sent, ttl));
    expires_at_ = count(rules_.expires_at(sent, ttl));
}

void lease::begin(clock::time_point sent) noexcept {
    set_times(sent, rules_.ttl());
    state_ = state::held;
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
            keeper_of(*pool_).watch(shared_from_this());
            watched_ = true;
        }
    } catch (const std::exception&) {
        loss_->request_stop();  // nobody can watch it, so nobody may rely on it
    }
    return loss_->get_token();
}

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
        const bool ours = found.answer.integer() == 1;
        if (ours) set_times(found.sent, ttl);
        if (!ours || clock::now() >= safe_until()) lose();
    } catch (const error& failure) {
        // A shorter ttl may have been set; the holder believes the shorter one.
        if (failure.in_doubt() && rules_.safe_until(sent, ttl) < safe_until()) set_times(sent, ttl);
        if (failure.reason() == errc::wrong_type) lose();
        throw;
    }
    const std::lock_guard lock{listening_};
    if (watched_ && state_ == state::held) keeper_of(*pool_).watch(shared_from_this());
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

void lease::lose() noexcept {
    auto expected = state::held;
    state_.compare_exchange_strong(expected, state::lost);
}

std::optional<clock::time_point> lease::check_time(clock::time_point now) noexcept {
    if (state_ != state::held) return std::nullopt;
    if (now < safe_until()) return safe_until();
    lose();
    return std::nullopt;
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
}

release_result lease::release() noexcept { return release_within(std::nullopt); }

release_result lease::release_within(std::optional<clock::time_point> deadline) noexcept {
    if (inherited()) return release_result::expired;
    const auto self = weak_from_this().lock();  // an event sink may destroy the guard
    outcome found;
    {
        const std::lock_guard lock{asking_};
        if (state_ == state::ended || state_ == state::idle) return release_result::expired;
        state_ = state::releasing;
        stop_watching();
        found = ask_to_release(deadline);
        if (found.result != release_result::unknown) state_ = state::ended;
    }
    // With nothing locked, since an event sink may use the guard.
    if (found.result != release_result::released) pool_->report(event_of(found.result), name_, found.detail);
    return found.result;
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
    const std::lock_guard lock{asking_};
    state_ = state::ended;
    stop_watching();
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
