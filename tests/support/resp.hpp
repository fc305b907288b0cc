// resp: where one message of the Redis protocol ends, and what a command says.
//
//     frame_length("+OK\r\n:1\r\n");                              // 5
//     frame_length("$5\r\nab");                                   // 0: not complete
//     command_words("*1\r\n$4\r\nPING\r\n");                      // {"PING"}
//
// Knows RESP2, RESP3 and inline commands. Bytes that cannot be RESP make frame_length answer `no_resp`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tranca::testing {

inline constexpr std::size_t incomplete = 0;
inline constexpr std::size_t no_resp = static_cast<std::size_t>(-1);

[[nodiscard]] std::size_t frame_length(std::string_view bytes);    // of a reply or a command in an array
[[nodiscard]] std::size_t request_length(std::string_view bytes);  // the same, and inline commands
[[nodiscard]] std::vector<std::string> command_words(std::string_view request);
[[nodiscard]] std::string encode_command(const std::vector<std::string>& words);

}  // namespace tranca::testing
