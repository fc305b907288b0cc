#pragma once

// The command line.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sections/section.hpp"
#include "sections/stage.hpp"

namespace tranca::bench {

struct options {
    pace speed = pace::usual;
    std::string json;  ///< File names; empty: not wanted.
    std::string html;
    std::vector<std::shared_ptr<section>> sections;
};

/// Exit code when the program has nothing more to do: 0 after --help, 2 after an error, which it has explained.
struct leave {
    int code;
};

/// Reads the arguments, also those of the sections, and makes sure that the files can be written.
/// Throws `leave`.
[[nodiscard]] options read_options(int count, const char* const* arguments);

}  // namespace tranca::bench
