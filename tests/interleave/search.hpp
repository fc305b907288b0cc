// explore, sample: a scenario under all orders of its steps, or under many drawn by a seed.
//
//     const auto all = explore(server, two);           // depth first; all.exhausted, all.schedules, all.flaw
//     const auto some = sample(server, big, 2'000);    // TRANCA_TEST_SEED draws the same ones again
//
// TRANCA_INTERLEAVE_FACTOR multiplies what is drawn and how far a search goes, for a longer run. Each tells in a line how it
// went, and draws the schedule of a flaw; with TRANCA_REPORT naming a file, a JSON line there tells the same.
// TRANCA_INTERLEAVE_REPLAY="A B A~" runs that one schedule instead and draws it: together with --gtest_filter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "interleave/scenario.hpp"
#include "interleave/schedule.hpp"
#include "support/redis_server.hpp"

namespace tranca::interleave {

struct verdict {
    std::uint64_t schedules{0};
    std::uint64_t flawed{0};  // of these
    bool exhausted{false};
    std::optional<std::string> flaw{};  // of the shortest of them
    std::string schedule{};             // its choices
    std::string picture{};
    std::string last{};  // the choices of the last schedule
};

// At most so many, if that is not all.
constexpr std::uint64_t most_schedules = 200'000;

// Goes on after a flaw: the shortest schedule that has one is told.
[[nodiscard]] verdict explore(testing::redis_server& server, const scenario& what, std::uint64_t most = most_schedules);
[[nodiscard]] verdict sample(testing::redis_server& server, const scenario& what, std::uint64_t count);

// One schedule, as far as the choices are possible; then the first choice until it ends. Tells nothing.
[[nodiscard]] outcome replay(testing::redis_server& server, const scenario& what, const choices& made);

}  // namespace tranca::interleave
