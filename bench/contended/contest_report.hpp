#pragma once

// Contests for people and for programs. Pure.

#include <vector>

#include "contended/contest.hpp"
#include "report/findings.hpp"

namespace tranca::bench {

/// A worker that was granted nothing makes "fairness" null.
[[nodiscard]] nlohmann::json contest_row(const contest_result& measured);
[[nodiscard]] table contest_table(const std::vector<contest_result>& measured);
[[nodiscard]] std::vector<plot> contest_plots(const std::vector<contest_result>& measured);

/// Only claims whose cells were measured.
[[nodiscard]] std::vector<claim> contest_claims(const std::vector<contest_result>& measured);

}  // namespace tranca::bench
