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

lease::lease(std::shared_ptr<connection_pool> pool, key name, const lease_clock& rules, const token& owner)
    : pool_(std::move(pool)), name_(std::move(name)), owner_(owner), rules_(rules), generation_(fork_generation()) {}

bool lease::inherited() const noexcept { return generation_ != fork_generation(); }

void lease::set_times(clock::time_point sent, milliseconds ttl) noexcept {
    ttl_ = ttl.count();
    safe_until_ = count(rules_.safe_until(sent, ttl));
    expires_at_ = count(rules_.expires_at(sent, ttl));
    schedule_renewal(sent);
}

void lease::schedule_renewal(clock::time_point from) noexcept {
    auto next = clock::time_point::max();
    if (rules_.renew_every() > milliseconds::zero()) {
        // A ttl that extend() made shorter is renewed sooner.
        const auto pause = std::min(rules_.renew_every(), milliseconds{ttl_} / 3);
        if (from + pause <= rules_.renewed_until(begun_)) next = from + pause;
    }
    renew_at_ = count(next);
}

void lease::begin(clock::time_point sent) noexcept {
    begun_ = sent;
    set_times(sent, rules_.ttl());
    // Nobody gets one that is over already: nothing begins that could be lost.
    if (clock::now() < safe_until()) start();
}

void lease::carry_on(const lease& previous) noexcept {
    begun_ = clock::now();
    ttl_ = previous.ttl_.load();
    safe_until_ = previous.safe_until_.load();
    expires_at_ = previous.expires_at_.load();
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
