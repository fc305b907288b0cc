#pragma once

// The arithmetic of a lease: how long a holder may believe it holds. Pure: no clock is read, nothing is sent.
//
//     tranca::lease_clock rules{tranca::lease_options{.ttl = 10s}};
//     auto until = rules.safe_until(sent);           // sent + 10 s - 1 ms (precision) - 10 ms (drift) - 1 s (margin)
//
// Promises: the time counts from *before* the request was sent, so the server's own count, which starts later, ends later;
// precision covers that it counts whole milliseconds, drift (a thousandth of the ttl) two clocks that run at different rates;
// rounding always shortens. So nothing is left of a ttl of 1 ms: each grant of one comes too late.
// Does not promise anything about a process that is paused: it believes nothing while it stands still, but what it had
// already sent arrives. Only a fencing number checked by the resource covers that.

#include <cmath>
#include <optional>

#include <tranca/time.hpp>

namespace tranca {

/// How a lease is kept.
struct lease_options {
    milliseconds ttl{10'000};  ///< Told to Redis: a crashed holder blocks the others for no longer.
    std::optional<milliseconds>
        renew_every{};  ///< nullopt: ttl / 3 (the ladder: never); 0: never; must be < ttl - margin.
    std::optional<milliseconds>
        margin{};              ///< nullopt: ttl / 10; lost() fires this long before Redis may expire the key.
    milliseconds max_hold{0};  ///< 0: no bound; otherwise automatic renewal stops here.
};

/// Lease options made into times. A value; thread-safe.
class lease_clock {
public:
    /// Throws errc::invalid_argument, with both numbers, if the options contradict each other. No I/O.
    explicit lease_clock(const lease_options& options);

    /// The pause between renewals by the keeper; zero: it is never renewed by itself.
    [[nodiscard]] milliseconds renew_every() const noexcept { return renew_every_; }

    /// Until when a lease that began at `begun` may be renewed by itself.
    [[nodiscard]] clock::time_point renewed_until(clock::time_point begun) const noexcept {
        return max_hold_ == milliseconds::zero() ? clock::time_point::max() : deadline_after(max_hold_, begun);
    }

    /// A lease without an end, as of a lock without ttl.
    [[nodiscard]] static lease_clock endless() noexcept { return lease_clock{}; }

    /// The ttl for the server; meaningless for an endless lease.
    [[nodiscard]] milliseconds ttl() const noexcept { return ttl_; }

    [[nodiscard]] bool is_endless() const noexcept { return endless_; }

    /// Until when a request sent at `sent` lets its holder believe, for the usual ttl or for another one.
    [[nodiscard]] clock::time_point safe_until(clock::time_point sent) const noexcept { return safe_until(sent, ttl_); }
    [[nodiscard]] clock::time_point safe_until(clock::time_point sent, milliseconds ttl) const noexcept {
        if (endless_) return clock::time_point::max();
        return expires_at(sent, ttl) - margin_of(ttl);
    }

    /// When the server may expire a key set by a request sent at `sent`: the end of the lease without its margin.
    [[nodiscard]] clock::time_point expires_at(clock::time_point sent, milliseconds ttl) const noexcept {
        return endless_ ? clock::time_point::max() : sent + ttl - precision - drift(ttl);
    }

    /// From when on nothing is left of a key that was set to `ttl` before `now`.
    [[nodiscard]] clock::time_point gone_by(clock::time_point now, milliseconds ttl) const noexcept {
        return endless_ ? clock::time_point::max() : now + ttl + precision + drift(ttl);
    }

    /// What a key's life may differ from its ttl by: the server counts from the beginning of the present millisecond, and
    /// since Redis 7.2 its active expiry takes a key out as soon as the last one begins.
    static constexpr milliseconds precision{1};

    /// What two clocks may differ by after `ttl`.
    [[nodiscard]] static constexpr clock::duration drift(milliseconds ttl) noexcept {
        return clock::duration{ttl} / 1'000;
    }

private:
    lease_clock() noexcept : endless_(true) {}

    // A shorter ttl than usual gets a margin in proportion, so that something is left of it.
    [[nodiscard]] clock::duration margin_of(milliseconds ttl) const noexcept {
        if (ttl >= ttl_) return margin_;
        // Long double holds the product exactly; rounded up, so that the lease is rounded down.
        const auto product = static_cast<long double>(margin_.count()) * static_cast<long double>(ttl.count());
        return clock::duration{static_cast<clock::rep>(std::ceil(product / static_cast<long double>(ttl_.count())))};
    }

    milliseconds ttl_{0};
    milliseconds renew_every_{0};
    milliseconds max_hold_{0};
    clock::duration margin_{0};
    bool endless_ = false;
};

}  // namespace tranca
