#pragma once

// Any primitive as a standard TimedLockable, for std::unique_lock and std::scoped_lock; one with readers for
// std::shared_lock too: see shared_lockable.hpp.
//
//     tranca::lockable stock{tranca::ladder::px_lock{redis, "stock"}};
//     std::scoped_lock held{stock};
//     stock.require();                 // throws lease_lost if the lease ran out meanwhile: before the step that matters
//
// Promises: lock() means held by this process *and* by this object: threads that share it queue locally; unlock() never
// throws, last_release() tells how it went; the destructor ends what std::unique_lock::release() left locked.
// Does not promise what the standard's guards cannot say: std::unique_lock::owns_lock() stays true after the lease was lost.
// Ask lost() or require(). Locking twice from one thread waits for itself. std::lock on several of them tries and backs off,
// with a round trip each: prefer one primitive over several names.
// Thread safety: full.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <tranca/acquirable.hpp>
#include <tranca/error.hpp>
#include <tranca/lock_deadline.hpp>
#include <tranca/shared_lockable.hpp>

namespace tranca {

/// See the top of this file.
template <acquirable P>
class lockable : public detail::shared_lockable<lockable<P>, P> {
public:
    explicit lockable(P primitive) : primitive_(std::move(primitive)) {}
    lockable(const lockable&) = delete;
    lockable& operator=(const lockable&) = delete;

    /// Waits until held. Throws error when Redis cannot be asked. Round trips as the primitive's acquire().
    void lock() {
        local_turn turn{*this, clock::time_point::max()};
        turn.keep(primitive_.acquire());
    }

    /// One attempt; false: busy, here or elsewhere.
    [[nodiscard]] bool try_lock() { return lock_before(clock::time_point::min()); }

    /// Attempts for as long as `wait`; zero or less: one attempt.
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
        return lock_before(detail::lock_deadline(wait));
    }

    /// Attempts until a point in time, of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline) {
        return lock_before(detail::lock_deadline(deadline));
    }

    /// Releases; see last_release(). Up to one round trip, bounded in time. Nothing if not locked.
    void unlock() noexcept {
        std::unique_lock lock{mutex_};
        if (!held_) return;
        auto held = std::move(*held_);
        held_.reset();
        lock.unlock();
        const auto result = held.release();
        lock.lock();
        last_release_ = result;
        busy_ = false;
        lock.unlock();
        free_.notify_one();
    }

    /// Requested when the lease of the current holder is lost; see guard::lost(). A token without a state if not locked.
    /// For a thread that locked it shared: its own lease.
    [[nodiscard]] std::stop_token lost() const noexcept {
        if constexpr (shareable<P>)
            if (auto mine = this->shared_lost()) return *std::move(mine);
        const std::lock_guard lock{mutex_};
        return held_ ? held_->lost() : std::stop_token{};
    }

    /// Throws lease_lost unless locked and still within the lease: for a thread that locked it shared, its own. No I/O. Call
    /// it right before the step that matters.
    void require() const {
        if (!holds()) throw lease_lost("a lock that was required is not held");
    }

    /// How the last unlock() or unlock_shared() went; empty before the first.
    [[nodiscard]] std::optional<release_result> last_release() const noexcept {
        const std::lock_guard lock{mutex_};
        return last_release_;
    }

private:
    friend detail::shared_lockable<lockable<P>, P>;

    // This object, for one thread; given back unless a guard is kept.
    class local_turn {
    public:
        local_turn(lockable& owner, clock::time_point deadline) : owner_(owner) {
            std::unique_lock lock{owner_.mutex_};
            const auto is_free = [&] { return !owner_.busy_; };
            if (deadline == clock::time_point::max()) owner_.free_.wait(lock, is_free);
            else if (!owner_.free_.wait_until(lock, deadline, is_free)) return;
            owner_.busy_ = mine_ = true;
        }
        local_turn(const local_turn&) = delete;
        local_turn& operator=(const local_turn&) = delete;
        ~local_turn() {
            if (!mine_) return;
            {
                const std::lock_guard lock{owner_.mutex_};
                owner_.busy_ = false;
            }
            owner_.free_.notify_one();
        }

        explicit operator bool() const noexcept { return mine_; }

        void keep(guard held) {
            const std::lock_guard lock{owner_.mutex_};
            owner_.held_ = std::move(held);
            mine_ = false;
        }

    private:
        lockable& owner_;
        bool mine_ = false;
    };

    [[nodiscard]] bool holds() const {
        if constexpr (shareable<P>)
            if (const auto mine = this->shared_holds()) return *mine;
        const std::lock_guard lock{mutex_};
        return held_ && *held_;
    }

    [[nodiscard]] bool lock_before(clock::time_point deadline) {
        local_turn turn{*this, deadline};
        if (!turn) return false;
        auto held = primitive_.try_acquire_until(deadline);
        if (!held) return false;
        turn.keep(std::move(*held));
        return true;
    }

    P primitive_;
    mutable std::mutex mutex_;
    std::condition_variable free_;
    bool busy_ = false;
    std::optional<guard> held_;
    std::optional<release_result> last_release_;
};

}  // namespace tranca
