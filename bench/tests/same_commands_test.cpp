// The ratio in the report means something only if both sides send the same: what the server receives from a rung of the
// library and from its hand-written twin is compared, command by command.

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <regex>
#include <string>
#include <vector>

#include <tranca/client.hpp>

#include "measure/rungs.hpp"
#include "server/private_server.hpp"

namespace tranca::bench {

// GoogleTest's name for a parameter that fails.
void PrintTo(const rung& what, std::ostream* out) { *out << what.name; }

namespace {

// Tokens, times and the fair order's counter differ from one cycle to the next, the rest must not.
std::string without_what_varies(std::string line) {
    line = std::regex_replace(line, std::regex(R"(^[0-9.]+ \[[^\]]*\] )"), "");
    line = std::regex_replace(line, std::regex(R"("[0-9a-f]{32}")"), "TOKEN");
    line = std::regex_replace(line, std::regex(R"("[0-9]{10}\.[0-9]{6}")"), "TIME");
    return std::regex_replace(line, std::regex(R"x((:owner" )"[0-9]+" TOKEN)x"), "$1COUNTER TOKEN");
}

class SameCommands : public testing::TestWithParam<rung> {
protected:
    // What the server receives and runs, also inside scripts, while `one` runs.
    std::vector<std::string> commands_of(const cycle& one) {
        wire spy(server_.over_tcp());
        wire marker(server_.over_tcp());
        spy.ask("MONITOR");
        one();
        marker.ask("ECHO", "that was all");
        std::vector<std::string> lines;
        for (;;) {
            const auto line = std::string(spy.next().text());
            if (line.find("that was all") != std::string::npos) return lines;
            lines.push_back(without_what_varies(line));
        }
    }

    private_server server_;
};

TEST_P(SameCommands, AsByHand) {
    const auto& what = GetParam();
    wire redis(server_.over_tcp());
    hand_written hand(redis);
    const client library(server_.over_tcp());
    const auto by_hand = what.by_hand(hand, "name", 5);
    const auto by_library = what.by_library(library, "name", 5);
    by_hand();
    by_library();  // connects, and asks once per connection what it may do

    const auto expected = commands_of(by_hand);
    EXPECT_EQ(commands_of(by_library), expected);
    EXPECT_GE(expected.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Rungs, SameCommands, testing::ValuesIn(ladder_rungs()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tranca::bench
