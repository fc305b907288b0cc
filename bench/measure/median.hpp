#pragma once

// The middle of some measurements.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tranca::bench {

/// Of an even number the upper middle; 0 of none. Pure.
[[nodiscard]] inline double median_of(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace tranca::bench
