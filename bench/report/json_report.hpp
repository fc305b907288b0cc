#pragma once

// The run for programs: under each section's name its rows, and under "claims" what had to be shown.

#include <vector>

#include <nlohmann/json.hpp>

#include "report/findings.hpp"
#include "report/run_facts.hpp"

namespace tranca::bench {

[[nodiscard]] nlohmann::ordered_json as_json(const run_facts& facts, const std::vector<findings>& all);

}  // namespace tranca::bench
