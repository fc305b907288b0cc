#pragma once

// Time as the library counts it: the steady clock, whole milliseconds for the server, saturating deadlines.
//
//     auto deadline = tranca::deadline_after(std::chrono::hours::max());   // the end of time, not the past
//     auto on_wire  = tranca::ceil_milliseconds(1500us);                   // 2 ms: never 1, never 0
//
// Promises: no conversion truncates towards "no lease" and no sum wraps around.
// Does not promise anything about the wall clock, which is never read here.

#include <chrono>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>

namespace tranca {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The longest duration accepted anywhere: about 100 years. Longer ones are surely a mistake.
inline constexpr milliseconds longest_duration = std::chrono::hours{24 * 365 * 100};

/// Throws errc::invalid_argument unless 0 < value <= longest_duration. `option` names it in the text. No I/O.
void require_positive(milliseconds value, std::string_view option);

/// Throws errc::invalid_argument unless 0 <= value. No I/O.
void require_not_negative(milliseconds value, std::string_view option);

/// Throws errc::invalid_argument saying that `option` is not a number. No I/O.
[[noreturn]] void refuse_not_a_number(std::string_view option);

/// Rounds any duration up to whole milliseconds, saturating at milliseconds::max() and min(). NaN is refused. Pure.
template <class Rep, class Period>
[[nodiscard]] constexpr milliseconds ceil_milliseconds(std::chrono::duration<Rep, Period> value) {
    if constexpr (std::floating_point<Rep>) {
        if (std::isnan(value.count())) refuse_not_a_number("a duration");
    }
    // Compared as long double, which holds every representable count, so that the cast below cannot overflow.
    using wide = std::chrono::duration<long double, std::milli>;
    const wide exact{value};
    if (exact >= wide{milliseconds::max()}) return milliseconds::max();
    if (exact <= wide{milliseconds::min()}) return milliseconds::min();
    return std::chrono::ceil<milliseconds>(value);
}

/// `start + wait`, or the end (the beginning) of time where that or `wait` alone is more than the clock can count. Pure.
[[nodiscard]] constexpr clock::time_point deadline_after(milliseconds wait, clock::time_point start) noexcept {
    constexpr auto most = std::chrono::floor<milliseconds>(clock::duration::max());
    if (wait >= milliseconds::zero())
        return wait > most || start > clock::time_point::max() - wait ? clock::time_point::max() : start + wait;
    return wait < -most || start < clock::time_point::min() - wait ? clock::time_point::min() : start + wait;
}

/// The deadline that lies `wait` from now; see above. Reads the steady clock.
[[nodiscard]] inline clock::time_point deadline_after(milliseconds wait) noexcept {
    return deadline_after(wait, clock::now());
}

}  // namespace tranca
