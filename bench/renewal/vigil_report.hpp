#pragma once

// A vigil for people and for programs. Pure.

#include "renewal/vigil.hpp"
#include "report/findings.hpp"

namespace tranca::bench {

[[nodiscard]] nlohmann::json vigil_row(const vigil_result& measured);
[[nodiscard]] table vigil_table(const vigil_result& measured);
[[nodiscard]] claim vigil_claim(const vigil_result& measured);

}  // namespace tranca::bench
