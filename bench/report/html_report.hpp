#pragma once

// The run as one HTML page that needs nothing beside itself: what had to be shown, the plots, the tables.

#include <string>
#include <vector>

#include "report/findings.hpp"
#include "report/run_facts.hpp"

namespace tranca::bench {

/// Runs gnuplot for the plots; without it the page has the tables and says so.
[[nodiscard]] std::string as_html(const run_facts& facts, const std::vector<findings>& all);

}  // namespace tranca::bench
