#pragma once

// For how long a waiter sleeps before it looks by itself, whether it was woken or not. Pure.
//
//     auto slice = tranca::wait_slice(busy_for, own_ttl, chance());      // chance: from 0 up to 1, another for each waiter
//
// Promises: never longer than a second, than an eighth of the waiter's own ttl (its lease is counted from before it slept),
// nor much longer than the holder's lease, which may end in silence; a crowd that began together does not stay in step.
// Source: model m8; cases of other libraries whose waiters all retried at once.

#include <algorithm>

#include <tranca/time.hpp>

namespace tranca {

/// The longest slice. The traces of a waiter on the server live twice as long, so that they outlast every sleeper.
inline constexpr milliseconds longest_slice{1'000};

/// See the top of this file. `busy_for`: what is left of the holder's lease, as the server said. Pure.
[[nodiscard]] inline clock::duration wait_slice(milliseconds busy_for, milliseconds own_ttl, double chance) noexcept {
    using fraction = std::chrono::duration<double, clock::period>;
    const auto part = [&](clock::duration whole, double least) {
        return std::chrono::duration_cast<clock::duration>(fraction{whole} * (least + (1 - least) * chance));
    };
    const clock::duration bound = std::min(longest_slice, std::max(own_ttl / 8, milliseconds{5}));
    // At the holder's expiry all look, but not in the same millisecond.
    const clock::duration expiry =
        std::min(busy_for, longest_slice) + milliseconds{1} + part(milliseconds{10}, 0) * (bound > milliseconds{20});
    return std::min(expiry, part(bound, 0.5));
}

/// Before the next try where no release can wake anybody. `tries`: how many were in vain; `chance`: as above. A quarter of
/// a millisecond at least, and no longer than what is left of the holder's lease, nor than 64 ms. Pure.
[[nodiscard]] inline clock::duration retry_pause(milliseconds busy_for, unsigned tries, double chance) noexcept {
    using fraction = std::chrono::duration<double, clock::period>;
    clock::duration bound = milliseconds{2} * (1U << std::min(tries, 5U));
    // A split vote is over as soon as the others have taken it back.
    if (busy_for > milliseconds::zero()) bound = std::min<clock::duration>(bound, std::min(busy_for, longest_slice));
    bound = std::max<clock::duration>(bound, milliseconds{1});
    return std::chrono::duration_cast<clock::duration>(fraction{bound} * (0.25 + 0.75 * chance));
}

}  // namespace tranca
