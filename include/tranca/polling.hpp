#pragma once

// Waiting in the plain form: try, sleep a little, try again - the book's way, kept by the ladder.
//
//     class px_lock : public tranca::polling<px_lock> { friend tranca::polling<px_lock>; std::optional<guard> attempt() const; };
//
// Promises: at least one attempt, and exactly one if there is no time; sleeps are clipped to the deadline, where one last
// attempt is made; a stop request ends the sleep at once; server states that pass by themselves are waited out until the
// deadline and only then thrown. So is a server that cannot be reached (connect_failed, connection_lost), with one exception:
// acquire() without a deadline throws at once while this client has not reached its server a single time.
// Does not promise fairness, nor a quiet server: every waiter asks once per period. The production primitives cure that.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <tranca/attempt.hpp>
#include <tranca/client.hpp>
#include <tranca/error.hpp>
#include <tranca/pause.hpp>

namespace tranca {

/// Gives `Primitive`, which has a private `std::optional<guard> attempt() const`, the four ways to acquire. If it also
/// has `attempt(deadline, stop)`, the waiting forms use that one.
template <class Primitive>
class polling {
public:
    /// Waits for as long as it takes, also for a server that went away to come back. Throws errc::stopped on a stop request or
    /// when the client is destroyed, and error when Redis cannot be asked: it was never reached, or says what does not pass.
    /// As many round trips as attempts.
    [[nodiscard]] guard acquire(std::stop_token stop = {}) const {
        auto held = try_acquire_until(clock::time_point::max(), std::move(stop));
        if (!held) throw error(errc::stopped, "acquiring \"" + name_.printable() + "\"");
        return std::move(*held);
    }

    /// One attempt; nullopt: busy. Throws error when Redis cannot be asked.
    [[nodiscard]] std::optional<guard> try_acquire() const {
        return told([&] { return this->answered(this->self().attempt()); });
    }

    /// Attempts for as long as `wait`, rounded up to milliseconds; zero: one attempt. nullopt: busy until the end, or stopped.
    /// A server that cannot be reached is tried until the end, and that is thrown then.
    /// Throws errc::invalid_argument for a negative wait or NaN, and error as above.
    template <class Rep, class Period>
    [[nodiscard]] std::optional<guard> try_acquire_for(std::chrono::duration<Rep, Period> wait,
                                                       std::stop_token stop = {}) const {
        const auto rounded = ceil_milliseconds(wait);
        require_not_negative(rounded, "the wait");
        return try_acquire_until(deadline_after(rounded), std::move(stop));
    }

    /// The same until a point in time; one in the past: one attempt.
    [[nodiscard]] std::optional<guard> try_acquire_until(clock::time_point deadline, std::stop_token stop = {}) const {
        return told([&] { return try_until(deadline, stop); });
    }

    /// The main key in Redis.
    [[nodiscard]] const key& main_key() const noexcept { return name_; }

protected:
    polling(const client& redis, key name, milliseconds poll) : polling(redis.pool(), std::move(name), poll) {}
    polling(std::shared_ptr<connection_pool> pool, key name, milliseconds poll)
        : pool_(std::move(pool)), name_(std::move(name)), poll_(poll) {
        require_positive(poll, "poll");
    }

    [[nodiscard]] const std::shared_ptr<connection_pool>& pool() const noexcept { return pool_; }

private:
    [[nodiscard]] const Primitive& self() const noexcept { return static_cast<const Primitive&>(*this); }

    // What was granted has reached Redis, also by a primitive that has connections of its own.
    [[nodiscard]] std::optional<guard> answered(std::optional<guard> found) const noexcept {
        if (found) pool_->remember_reached();
        return found;
    }

    // Tells the client's sink, if there is one, what came of it and how long it took.
    [[nodiscard]] std::optional<guard> told(const auto& acquiring) const {
        if (!pool_->has_sink()) return acquiring();
        const auto start = clock::now();
        try {
            auto held = acquiring();
            pool_->report(held ? event::kind::acquired : event::kind::busy, name_, {}, clock::now() - start);
            return held;
        } catch (const error& failure) {
            if (failure.in_doubt()) pool_->report(event::kind::in_doubt, name_, failure.what(), clock::now() - start);
            throw;
        }
    }

    [[nodiscard]] std::optional<guard> try_until(clock::time_point deadline, const std::stop_token& stop) const {
        const auto closing = pool_->closing();
        for (;;) {
            if (closing.stop_requested())
                throw error(errc::stopped, "acquiring \"" + name_.printable() + "\": the client was destroyed");
            if (stop.stop_requested()) return std::nullopt;
            auto found = attempt_before(deadline, stop);
            if (found.held) return std::move(found.held);
            const auto now = clock::now();
            if (now >= deadline) {
                if (found.passing) throw *std::move(found.passing);
                return std::nullopt;
            }
            // Stopped or not: the next round sees.
            static_cast<void>(pause_until(poll_ < deadline - now ? now + poll_ : deadline, stop, closing));
        }
    }

    // Neither: busy. A state of the server that passes by itself, or its absence, counts as that, but not at the deadline.
    struct tried {
        std::optional<guard> held;
        std::optional<error> passing;
    };

    [[nodiscard]] tried attempt_before(clock::time_point deadline, const std::stop_token& stop) const {
        try {
            // An attempt that waits itself is told for how long it may.
            if constexpr (requires { self().attempt(deadline, stop); })
                return {answered(self().attempt(deadline, stop)), {}};
            else return {answered(self().attempt()), {}};
        } catch (const error& failure) {
            const bool is_away = failure.reason() == errc::timeout || detail::is_outage(*pool_, failure, deadline);
            const bool passes = failure.temporary() || (is_away && !failure.in_doubt());
            if (!passes) throw;
            return {{}, failure};
        }
    }

    std::shared_ptr<connection_pool> pool_;
    key name_;
    milliseconds poll_;
};

}  // namespace tranca
