#pragma once

// The findings as plain text for a terminal.

#include <string>

#include "report/findings.hpp"

namespace tranca::bench {

[[nodiscard]] std::string as_text(const table& shown);
[[nodiscard]] std::string as_text(const claim& checked);

}  // namespace tranca::bench
