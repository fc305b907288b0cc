#include "market/cell.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "raw/wire.hpp"

namespace tranca::bench {
namespace {

class Cell : public testing::TestWithParam<mode> {};

TEST_P(Cell, TradesAndLeavesASoundMarketAndNoKey) {
    const private_server server;
    const auto url = "unix://" + server.over_unix().path;
    ::setenv("REDIS_URL", url.c_str(), 1);
    const auto redis = target::choose();
    ::unsetenv("REDIS_URL");
    wire spy(server.over_unix());
    spy.ask("SET", "somebody's", "own");

    const auto result = run_cell({2, 2, GetParam()}, redis, {.seconds = 0.3, .workers = {}, .tick = {}});

    EXPECT_TRUE(result.violations.empty()) << result.violations.front();
    EXPECT_GT(result.total.listed, 0U);
    EXPECT_EQ(result.total.wait.count(), result.total.bought);
    EXPECT_GE(result.seconds, 0.3);
    if (GetParam() != mode::watch) {
        EXPECT_GT(result.total.bought, 0U);
        EXPECT_EQ(result.total.retries, 0U);
    }
    EXPECT_EQ(spy.ask("DBSIZE").integer(), 1) << "only what was there before may be left";
}

INSTANTIATE_TEST_SUITE_P(AllModes, Cell, testing::ValuesIn(all_modes),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST(Cell, FailsWhenTheServerDies) {
    const auto redis = target::choose();
    ASSERT_TRUE(redis.is_private());
    const auto kill_it = [&](double elapsed) {
        if (elapsed < 0.2) return;
        try {
            wire(redis.usual_route().where).ask("SHUTDOWN", "NOSAVE");
        } catch (const std::runtime_error&) {
            // It hangs up without an answer.
        }
    };
    EXPECT_ANY_THROW(run_cell({1, 1, mode::fine}, redis, {.seconds = 5, .workers = {}, .tick = kill_it}));
    EXPECT_ANY_THROW(redis.check_alive());
}

}  // namespace
}  // namespace tranca::bench
