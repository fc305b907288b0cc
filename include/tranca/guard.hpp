#pragma once

// Ownership of one acquisition: the only thing that holds a lock or a slot.
//
//     tranca::guard held = lock.acquire();
//     work();
//     if (held) commit();                    // still ours: the lease has not run out
//
// Promises: move-only; move-assignment releases what it held; the destructor releases, never throws and is bounded by the
// time limits of the endpoint (see release()); once false, false for good; lost() is requested before Redis may expire the
// key, even if the server hangs or is gone.
// Does not promise that a paused process stops: between `if (held)` and the next line it may sleep past its lease. Only the
// resource itself can refuse it then, by a fencing number.
// Failures of the destructor go to client_options::on_event.
// Thread safety: operator bool, safe_until, lost, fence, level, slots from any thread; release and extend wait for each other;
// moving and destroying need the caller's own order. May be released by another thread than acquired it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include <tranca/grant_level.hpp>
#include <tranca/lease.hpp>

namespace tranca {

/// See the top of this file.
class [[nodiscard("a guard that is dropped releases at once")]] guard {
public:
    /// Holds nothing.
    guard() noexcept = default;

    /// Takes over a lease that began; for primitives.
    explicit guard(std::shared_ptr<lease> held) noexcept : lease_(std::move(held)) {}

    guard(guard && other) noexcept = default;
    guard& operator=(guard&& other) noexcept {
        if (this == &other) return *this;
        end();
        lease_ = std::move(other.lease_);
        return *this;
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

    /// Releases, within what is left of the lease; sends nothing if nothing is left. Up to one round trip.
    ~guard() { end(); }

    /// True while held and now() < safe_until(). No I/O.
    [[nodiscard]] explicit operator bool() const noexcept { return lease_ && lease_->held(); }

    /// True if its owner gave it up: it was released, abandoned, moved from, or never acquired anything. No I/O.
    [[nodiscard]] bool given_up() const noexcept { return !lease_ || lease_->given_up(); }

    /// Until when the holder may believe, counted from before the request was sent, less precision, drift and margin (see
    /// lease_clock.hpp). No I/O.
    [[nodiscard]] clock::time_point safe_until() const noexcept {
        return lease_ ? lease_->safe_until() : clock::time_point::min();
    }

    /// Requested no later than safe_until() and never taken back; not requested by a release. The first call starts the
    /// client's timer thread if none runs. Listeners run on a thread of the library's, or on that of the extend() that finds
    /// the loss, and may use the guard. No I/O.
    [[nodiscard]] std::stop_token lost() const noexcept { return lease_ ? lease_->lost() : std::stop_token{}; }

    /// The fencing number of this acquisition, where its primitive has them. No I/O.
    [[nodiscard]] std::optional<std::uint64_t> fence() const noexcept {
        return lease_ ? lease_->fence() : std::nullopt;
    }

    /// How many replicas had acknowledged the grant when it was made; 0 where its primitive did not ask for any. No I/O.
    [[nodiscard]] std::int64_t replicas() const noexcept { return lease_ ? lease_->replicas() : 0; }

    /// Who stood behind the grant when it was made. Of a guard that holds nothing: one_server. No I/O.
    [[nodiscard]] grant_level level() const noexcept { return lease_ ? lease_->level() : grant_level::one_server; }

    /// Which of a semaphore's places it holds, from 0 up; empty for a lock. Valid as long as the guard. No I/O.
    [[nodiscard]] std::span<const std::int64_t> slots() const noexcept {
        return lease_ ? lease_->slots() : std::span<const std::int64_t>{};
    }

    /// The first of slots(). No I/O.
    [[nodiscard]] std::optional<std::int64_t> slot() const noexcept {
        return slots().empty() ? std::nullopt : std::optional{slots().front()};
    }

    /// Sets the time left to the ttl of its primitive; never adds, never creates. False: lost for good (also if
    /// safe_until() has passed). Throws error when Redis cannot be asked. Then the lease runs on as it was; but a shorter time
    /// counts from the moment it is asked for, until the server has refused it. An extension that got no answer may still arrive:
    /// later ones are believed for its ttl at most. One round trip.
    bool extend() { return lease_ && lease_->extend(std::nullopt); }

    /// The same with another ttl; throws errc::invalid_argument unless it is positive.
    bool extend(milliseconds ttl) { return lease_ && lease_->extend(ttl); }

    /// Releases, if it is still ours on the server. A guard that holds nothing answers `expired`. After `unknown` it can be
    /// called again. On a demoted master, where nothing can be written, `expired` is told of a key it no longer has.
    /// One round trip; bounded by connect_timeout + command_timeout, and by Sentinel by a search for the master besides; in a
    /// Redis Cluster, while its slot is on the way to another node, by the end of the lease.
    release_result release() noexcept { return lease_ ? lease_->release() : release_result::expired; }

    /// Holds nothing from now on, and leaves the key to its ttl. No I/O.
    void abandon() noexcept {
        if (lease_) lease_->abandon();
    }

    /// What it holds, if anything; for primitives that can change it.
    [[nodiscard]] const std::shared_ptr<lease>& held_lease() const noexcept { return lease_; }

private:
    void end() noexcept {
        if (lease_) lease_->end();
        lease_.reset();
    }

    std::shared_ptr<lease> lease_;
};

}  // namespace tranca
