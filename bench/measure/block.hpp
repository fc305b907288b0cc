#pragma once

// A block of equal cycles, timed as a whole: a clock call per cycle would cost more than some of what is measured.

#include <chrono>
#include <functional>

namespace tranca::bench {

using cycle = std::function<void()>;

/// Microseconds a cycle.
[[nodiscard]] inline double time_block(const cycle& one, int cycles) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < cycles; ++i)
        one();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    return taken.count() / cycles;
}

}  // namespace tranca::bench
