#pragma once

// A whole run: the sections one after another, each printed as it ends, then the claims and the files.

#include "app/options.hpp"

namespace tranca::bench {

/// The exit code. What was measured is told however the run ends.
int run_benchmark(const options& wanted);

}  // namespace tranca::bench
