#pragma once

// Points in time as a lease keeps them, for reading without a lock.

#include <tranca/time.hpp>

namespace tranca {

/// Before a question is repeated that the server could not answer now.
inline constexpr milliseconds pause_between_repeats{5};

[[nodiscard]] inline clock::rep count(clock::time_point time) noexcept { return time.time_since_epoch().count(); }

[[nodiscard]] inline clock::time_point time_point(clock::rep count) noexcept {
    return clock::time_point{clock::duration{count}};
}

}  // namespace tranca
