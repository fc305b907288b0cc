#pragma once

// The marketplace as plots. Pure.

#include "market/results.hpp"
#include "report/findings.hpp"

namespace tranca::bench {

[[nodiscard]] std::vector<plot> market_plots(const results& measured);

}  // namespace tranca::bench
