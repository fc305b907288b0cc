// Interleaved: the base of the tests that explore schedules.
//
//     using InterleavedMutex = Interleaved;
//     TEST_F(InterleavedMutex, IsHeldByOne) { expect_no_flaw(two_try); }
#pragma once

#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "interleave/bodies.hpp"
#include "interleave/search.hpp"

namespace tranca::interleave {

// What runs one after another is faster on one core: none has to be woken. For the server too, if that is not started yet.
// Tests that run side by side take one each.
inline bool stay_on_one_core() {
    cpu_set_t all, only;
    if (::sched_getaffinity(0, sizeof all, &all) != 0) return false;
    std::vector<unsigned> cores;
    for (unsigned core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &all)) cores.push_back(core);
    const char* const shard = std::getenv("GTEST_SHARD_INDEX");
    const auto here = static_cast<std::size_t>(std::max(0, ::sched_getcpu()));
    const auto mine = shard != nullptr ? std::strtoul(shard, nullptr, 10) : here;
    CPU_ZERO(&only);
    CPU_SET(cores.at(mine % cores.size()), &only);
    return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

class Interleaved : public ::testing::Test {
protected:
    static testing::redis_server& fresh_on_one_core() {
        static const bool stays = stay_on_one_core();
        static_cast<void>(stays);
        return testing::fresh();
    }

    // The whole space, and nothing in it.
    void expect_no_flaw(const scenario& what) {
        const auto found = explore(server, what);
        EXPECT_EQ(found.flaw, std::nullopt) << found.schedule;
        EXPECT_TRUE(found.exhausted || std::getenv("TRANCA_INTERLEAVE_REPLAY") != nullptr);
    }

    // So many, drawn by the seed.
    void expect_no_flaw_in_a_sample(const scenario& what, std::uint64_t count) {
        const auto found = sample(server, what, count);
        EXPECT_EQ(found.flaw, std::nullopt) << found.schedule;
    }

    // Somewhere in the space, and again by its written schedule.
    void expect_flaw(const scenario& what, const std::string& text, std::uint64_t most = most_schedules) {
        const auto found = explore(server, what, most);
        EXPECT_THAT(found.flaw.value_or("none"), ::testing::HasSubstr(text));
        if (found.flaw) {
            EXPECT_EQ(replay(server, what, parse_choices(found.schedule)).flaw, found.flaw);
        }
    }

    testing::redis_server& server{fresh_on_one_core()};
};

// As many of every kind as may come together.
constexpr fault_budget any_faults(int together) {
    return {.crashes = together,
            .lost_replies = together,
            .expiries = together,
            .script_flushes = together,
            .timers = together,
            .stops = together,
            .freezes = together,
            .pairs = together,
            .together = together};
}
inline constexpr fault_budget one_fault = any_faults(1);

// But for two answers lost to the same waiter, which pauses then, and the search with it.
inline constexpr fault_budget two_faults = [] {
    auto made = any_faults(2);
    made.lost_replies = 1;
    return made;
}();

}  // namespace tranca::interleave
