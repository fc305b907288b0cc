#pragma once

// A plot as a script for gnuplot that writes SVG to its standard output. Pure.

#include <string>

#include "report/findings.hpp"

namespace tranca::bench {

[[nodiscard]] std::string gnuplot_script(const plot& shown);

}  // namespace tranca::bench
