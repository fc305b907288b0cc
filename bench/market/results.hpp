#pragma once

// All cells of a run, and questions about them. Pure.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "market/cell.hpp"

namespace tranca::bench {

using results = std::vector<cell_result>;
using cell_size = std::pair<int, int>;  // listers, buyers

inline cell_size size_of(const cell_result& one) { return {one.setting.listers, one.setting.buyers}; }

inline std::string name_of(const cell_size& size) { return fmt::format("{}/{}", size.first, size.second); }

/// Null if that was not measured.
inline const cell_result* find(const results& measured, const cell_size& size, mode how) {
    const auto at = std::find_if(measured.begin(), measured.end(), [&](const cell_result& one) {
        return size_of(one) == size && one.setting.how == how;
    });
    return at == measured.end() ? nullptr : &*at;
}

/// The sizes that were measured, in order, each once.
inline std::vector<cell_size> sizes_of(const results& measured) {
    std::vector<cell_size> sizes;
    for (const auto& one : measured) {
        if (std::find(sizes.begin(), sizes.end(), size_of(one)) == sizes.end()) sizes.push_back(size_of(one));
    }
    return sizes;
}

inline double sold_per_second(const cell_result& one) { return static_cast<double>(one.total.bought) / one.seconds; }

}  // namespace tranca::bench
