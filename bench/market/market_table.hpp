#pragma once

// The marketplace for people at a terminal and for programs. Pure.

#include "market/results.hpp"
#include "report/findings.hpp"

namespace tranca::bench {

[[nodiscard]] nlohmann::json market_row(const cell_result& measured);

/// Beside the book's figures for the same cell.
[[nodiscard]] table market_table(const results& measured);

}  // namespace tranca::bench
