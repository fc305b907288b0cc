#pragma once

// What is computed from the cells of a contest. Pure.

#include <algorithm>
#include <limits>
#include <vector>

#include "contended/contest.hpp"

namespace tranca::bench {

using contests = std::vector<contest_result>;

/// Acquisitions a second.
[[nodiscard]] inline double rate(const contest_result& one) {
    return one.seconds > 0 ? static_cast<double>(one.acquisitions) / one.seconds : 0.0;
}

/// Most to least acquisitions of a worker.
[[nodiscard]] inline double fairness(const contest_result& one) {
    if (one.fewest == 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(one.most) / static_cast<double>(one.fewest);
}

/// The raw lock with as many workers of the same kind; null if that was not measured.
[[nodiscard]] inline const contest_result* raw_beside(const contests& measured, const contest& setting) {
    const auto at = std::find_if(measured.begin(), measured.end(), [&](const contest_result& one) {
        return one.setting.primitive == "raw" && one.setting.workers == setting.workers &&
               one.setting.kind == setting.kind;
    });
    return at == measured.end() || at->acquisitions == 0 ? nullptr : &*at;
}

}  // namespace tranca::bench
