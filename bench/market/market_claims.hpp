#pragma once

// What the marketplace must show. Pure.

#include "market/results.hpp"
#include "report/findings.hpp"

namespace tranca::bench {

/// Only claims whose cells were measured.
[[nodiscard]] std::vector<claim> market_claims(const results& measured);

}  // namespace tranca::bench
