#pragma once

// Runs gnuplot.

#include <optional>
#include <string>

namespace tranca::bench {

/// What it writes to its standard output for a script; nullopt if it is not installed or fails.
[[nodiscard]] std::optional<std::string> run_gnuplot(const std::string& script);

}  // namespace tranca::bench
