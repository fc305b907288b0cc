#pragma once

// What one worker did, in shared memory: written by that worker alone, read when it has ended.

#include <cstdint>

#include "histogram/histogram.hpp"

namespace tranca::bench {

struct ledger {
    std::uint64_t made = 0;  ///< Items brought into being, the ones stocked before the start included.
    std::uint64_t listed = 0;
    std::uint64_t bought = 0;
    std::uint64_t retries = 0;  ///< Of purchases.
    histogram wait;             ///< Nanoseconds from wanting to buy until bought.
};

}  // namespace tranca::bench
