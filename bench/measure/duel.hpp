#pragma once

// Two ways to do the same, timed against each other so that what the machine does meanwhile hits both alike.
//
// Short blocks of one and of the other alternate, and so does who goes first; each pair of blocks gives one ratio, and the
// median of the ratios is the answer. Pairs that another process disturbed, which took half as long again as the faster
// quarter did, do not count.

#include "measure/block.hpp"
#include "process/baton.hpp"

namespace tranca::bench {

struct duel_result {
    double baseline_us = 0;  ///< Medians.
    double contender_us = 0;
    double ratio = 0;  ///< Of contender to baseline.
    int pairs = 0;     ///< That counted.
};

/// For so many seconds, or until the stop sign.
[[nodiscard]] duel_result duel(const cycle& baseline, const cycle& contender, double seconds, const baton& signs);

}  // namespace tranca::bench
