#pragma once

// What a section is given to measure with.

#include "process/placement.hpp"
#include "report/progress.hpp"
#include "server/target.hpp"

namespace tranca::bench {

/// How long to measure. Longer only tightens the figures.
enum class pace { quick, usual, full };

struct stage {
    const target& redis;
    cores machine;  ///< The cores the benchmark may use.
    pace speed = pace::usual;
    progress& told;

    /// Picks by pace.
    [[nodiscard]] double seconds(double quick, double usual, double full) const noexcept {
        return speed == pace::quick ? quick : speed == pace::usual ? usual : full;
    }
};

}  // namespace tranca::bench
