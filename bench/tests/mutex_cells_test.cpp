// A short cell of each section about the mutex.

#include <gtest/gtest.h>

#include <chrono>

#include <tranca/mutex.hpp>

#include "contended/contest.hpp"
#include "handoff/handoff.hpp"
#include "raw/wire.hpp"
#include "renewal/vigil.hpp"
#include "server/private_server.hpp"
#include "server/target.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

void expect_no_key_left(const target& redis) { EXPECT_EQ(wire(redis.usual_route().where).ask("DBSIZE").integer(), 0); }

TEST(Handoff, IsTimedFromReleaseToGuard) {
    const private_server server;
    const auto taken = measure_handoff({.where = server.over_tcp(),
                                        .name = "handoff",
                                        .make = [](const client& redis, const std::string& name) -> acquiring {
                                            return [lock = mutex(redis, name)] { return lock.acquire(); };
                                        },
                                        .seconds = 1,
                                        .workers = {},
                                        .tick = {}});
    EXPECT_GT(taken.count(), 3U);
    EXPECT_GT(taken.quantile(0), 1e3) << "no hand-over takes less than a microsecond";
    EXPECT_LT(taken.quantile(0.5), 1e9);
}

TEST(RoundTrip, IsTimed) {
    const private_server server;
    const auto taken = measure_round_trip(
        {.where = server.over_tcp(), .name = "", .make = {}, .seconds = 0.3, .workers = {}, .tick = {}});
    EXPECT_GT(taken.count(), 3U);
    EXPECT_GT(taken.quantile(0), 1e3);
}

class Contest : public testing::TestWithParam<contest> {};

TEST_P(Contest, GrantsToEverybodyAndLeavesNoKey) {
    const auto redis = target::choose();
    const auto found = run_contest(GetParam(), redis, {.seconds = 0.5});
    EXPECT_GT(found.acquisitions, 10U);
    EXPECT_GE(found.wait.count(), found.acquisitions);
    EXPECT_LE(found.fewest, found.most);
    EXPECT_EQ(found.overlaps, 0U);
    EXPECT_GT(found.longest_wait_us, 0);
    EXPECT_LT(found.commands_per_acquire, 50);
    expect_no_key_left(redis);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Contest,
                         testing::Values(contest{"mutex", 3, worker_kind::process},
                                         contest{"mutex", 3, worker_kind::thread},
                                         contest{"raw", 3, worker_kind::thread}),
                         [](const auto& one) { return one.param.primitive + std::string(name_of(one.param.kind)); });

// A lock that nobody else wants takes one command to acquire and one to release, by hand and with the library.
TEST(Contest, CountsTheCommandsOfTheClientsAlone) {
    const auto redis = target::choose();
    for (const char* primitive : {"raw", "mutex"}) {
        const auto found = run_contest({primitive, 1, worker_kind::process}, redis, {.seconds = 0.3});
        EXPECT_NEAR(found.commands_per_acquire, 2.0, 0.1) << primitive;
    }
}

TEST(Vigil, RenewsAllOfThem) {
    const auto redis = target::choose();
    const auto found = run_vigil({.guards = 20, .ttl = 1'500ms}, redis, {});
    EXPECT_EQ(found.lost, 0U);
    EXPECT_EQ(found.missed, 0U);
    EXPECT_GE(found.renewals, 60U);
    EXPECT_LT(found.threads, 10);
    EXPECT_GE(found.connections, 1);
    EXPECT_LE(found.connections, 4);
    EXPECT_GT(found.least_left_ms, 0);
    expect_no_key_left(redis);
}

}  // namespace
}  // namespace tranca::bench
