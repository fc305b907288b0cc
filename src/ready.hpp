#pragma once

// poll() on the steady clock, to the nanosecond: a socket, an interrupt, or both.
//
//     while (!wait_readable(socket, interrupt.descriptor(), deadline)) ...    // false: the time is over

#include <tranca/time.hpp>

namespace tranca {

/// True once either descriptor (-1: none) can be read or has failed; false when `deadline` has passed. Signals do not
/// end it.
[[nodiscard]] bool wait_readable(int first, int second, clock::time_point deadline) noexcept;

/// The same for one descriptor and room to write.
[[nodiscard]] bool wait_writable(int descriptor, clock::time_point deadline) noexcept;

}  // namespace tranca
