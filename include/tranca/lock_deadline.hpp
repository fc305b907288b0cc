#pragma once

// The times that the standard's timed locks are given, as deadlines of ours.
//
//     const auto deadline = tranca::detail::lock_deadline(wait);      // a duration, or a point in time of any clock
//
// Promises: saturates; no time, or less, is a point in the past: one attempt.

#include <chrono>
#include <concepts>

#include <tranca/time.hpp>

namespace tranca::detail {

template <class Rep, class Period>
[[nodiscard]] clock::time_point lock_deadline(std::chrono::duration<Rep, Period> wait) {
    const auto rounded = ceil_milliseconds(wait);
    return rounded > milliseconds::zero() ? deadline_after(rounded) : clock::time_point::min();
}

template <class Clock, class Duration>
[[nodiscard]] clock::time_point lock_deadline(std::chrono::time_point<Clock, Duration> deadline) {
    if constexpr (std::same_as<decltype(deadline), clock::time_point>) {
        return deadline;
    } else {
        // As long double, which holds every count of nanoseconds, so that no difference can overflow.
        using wide = std::chrono::duration<long double, std::nano>;
        return lock_deadline(wide{deadline.time_since_epoch()} - wide{Clock::now().time_since_epoch()});
    }
}

}  // namespace tranca::detail
