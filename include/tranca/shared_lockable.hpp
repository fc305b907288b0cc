#pragma once

// What a lockable has beside, if its primitive has a side for readers: the standard's SharedTimedLockable.
//
//     tranca::lockable prices{tranca::shared_mutex{redis, "prices"}};
//     const std::shared_lock reading{prices};
//     prices.require();               // throws lease_lost if this thread's lease ran out meanwhile
//
// Promises: each thread that locks it shared has a guard of its own, with its own lease and round trip: one guard for all
// would keep a waiting writer out for as long as one of them is in. unlock_shared() is called by the thread that locked, as
// the standard demands; for another one it does nothing. lost() and require() tell each thread of its own lease. The
// destructor ends what was left locked.
// Does not promise anything to a thread that locks it shared twice while a writer waits: it waits for itself.
// Thread safety: full.

#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <tranca/acquirable.hpp>
#include <tranca/lock_deadline.hpp>

namespace tranca::detail {

/// Of a primitive without readers: nothing.
template <class Lockable, class P>
class shared_lockable {};

/// See the top of this file.
template <class Lockable, shareable P>
class shared_lockable<Lockable, P> {
public:
    /// Waits until held, beside other readers. Throws error when Redis cannot be asked. Round trips as acquire().
    void lock_shared() { keep(self().primitive_.shared().acquire()); }

    /// One attempt; false: busy, or a writer waits.
    [[nodiscard]] bool try_lock_shared() { return try_lock_shared_until(clock::time_point::min()); }

    /// Attempts for as long as `wait`; zero or less: one attempt.
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> wait) {
        return try_lock_shared_until(lock_deadline(wait));
    }

    /// Attempts until a point in time, of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> deadline) {
        auto held = self().primitive_.shared().try_acquire_until(lock_deadline(deadline));
        if (!held) return false;
        keep(std::move(*held));
        return true;
    }

    /// Releases what this thread holds; see last_release(). Up to one round trip, bounded in time. Nothing if not locked.
    void unlock_shared() noexcept {
        std::unique_lock lock{sharing_};
        const auto found = mine();
        if (found == readers_.rend()) return;
        auto held = std::move(found->second);
        readers_.erase(std::next(found).base());
        lock.unlock();
        const auto result = held.release();
        const std::lock_guard telling{self().mutex_};
        self().last_release_ = result;
    }

protected:
    shared_lockable() = default;
    ~shared_lockable() = default;

    /// Of what this thread holds shared; empty: nothing.
    [[nodiscard]] std::optional<std::stop_token> shared_lost() const noexcept {
        const std::lock_guard lock{sharing_};
        const auto found = mine();
        return found == readers_.rend() ? std::nullopt : std::optional{found->second.lost()};
    }

    /// Does it still hold what it locked shared? Empty: it locked nothing.
    [[nodiscard]] std::optional<bool> shared_holds() const noexcept {
        const std::lock_guard lock{sharing_};
        const auto found = mine();
        return found == readers_.rend() ? std::nullopt : std::optional{static_cast<bool>(found->second)};
    }

private:
    using reader = std::pair<std::thread::id, guard>;

    [[nodiscard]] Lockable& self() noexcept { return static_cast<Lockable&>(*this); }

    void keep(guard held) {
        const std::lock_guard lock{sharing_};
        readers_.emplace_back(std::this_thread::get_id(), std::move(held));
    }

    // The last one of this thread.
    [[nodiscard]] auto mine() noexcept { return of_this_thread(readers_); }
    [[nodiscard]] auto mine() const noexcept { return of_this_thread(readers_); }
    [[nodiscard]] static auto of_this_thread(auto& readers) noexcept {
        auto at = readers.rbegin();
        while (at != readers.rend() && at->first != std::this_thread::get_id())
            ++at;
        return at;
    }

    mutable std::mutex sharing_;
    std::vector<reader> readers_;
};

}  // namespace tranca::detail
