// known_scripts: the library's scripts by name, for diagrams, and for a server that is to know them all from the start.
//
//     load_all(raw);
//     name_of_script(hash_or_text);                    // "acquire_mutex"
#pragma once

#include <string>
#include <string_view>

#include "support/raw_client.hpp"

namespace tranca::interleave {

[[nodiscard]] std::string name_of_script(std::string_view hash_or_text);

void load_all(testing::raw_client& raw);

}  // namespace tranca::interleave
