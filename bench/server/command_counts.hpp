#pragma once

// How many commands a server read from its clients meanwhile.
//
//     const command_counts before(redis);
//     ...
//     const auto read = command_counts(redis).since(before, {"get", "del"});    // those the scripts call
//
// From INFO commandstats, which counts what a script calls like what a client sent (and so does
// total_commands_processed): the names that only scripts call are left out by whoever knows the scripts.
// A command that blocks counts when it ends. Of a server with other clients their commands count too.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "raw/wire.hpp"

namespace tranca::bench {

class command_counts {
public:
    command_counts() = default;

    /// Asks. One round trip.
    explicit command_counts(wire& redis) : command_counts(redis.ask("INFO", "commandstats").text()) {}

    /// Reads what INFO said. Pure.
    explicit command_counts(std::string_view info);

    /// Calls since then, of all commands but INFO and those left out; a subcommand ("client|id") goes with its command.
    [[nodiscard]] std::uint64_t since(const command_counts& before,
                                      std::initializer_list<std::string_view> left_out) const;

private:
    std::map<std::string, std::uint64_t, std::less<>> calls_;
};

}  // namespace tranca::bench
