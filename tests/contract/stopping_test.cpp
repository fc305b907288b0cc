// A stop request ends a wait at once and leaves nothing behind.
#include <thread>

#include "contract/contract.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::contract {
namespace {

using testing::monitor_reader;

class Stopping : public contract {
protected:
    /// Asks to stop once an attempt was made in vain, and remembers when.
    [[nodiscard]] std::jthread stop_after_a_refusal() {
        return std::jthread{[this] {
            EXPECT_TRUE(wait_for_a_refusal());
            stopped_at = clock::now();
            stop.request_stop();
        }};
    }

    /// For how long the wait went on after the request.
    [[nodiscard]] clock::duration lateness() const { return clock::now() - stopped_at; }

    std::stop_source stop;
    clock::time_point stopped_at{clock::time_point::max()};
};

TEST_P(Stopping, BeforehandSendsNothing) {
    const auto primitive = make();
    warm_up(primitive);
    stop.request_stop();
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    EXPECT_TRUE(fails_with(errc::stopped, [&] { static_cast<void>(primitive.acquire(stop.get_token())); }));
    EXPECT_FALSE(primitive.try_acquire_for(10s, stop.get_token()));
    EXPECT_FALSE(primitive.try_acquire_until(clock::now() + 10s, stop.get_token()));
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
}

TEST_P(Stopping, EndsAWaitWithoutLimitByAnError) {
    occupy();
    raw.reset_stats();
    const auto primitive = make({.poll = 1h});
    const auto other = stop_after_a_refusal();
    EXPECT_TRUE(fails_with(errc::stopped, [&] { static_cast<void>(primitive.acquire(stop.get_token())); }));
    EXPECT_LT(lateness(), 500ms);
    EXPECT_TRUE(is_foreign());
}

TEST_P(Stopping, EndsAWaitWithALimitByNothing) {
    occupy();
    raw.reset_stats();
    const auto primitive = make({.poll = 1h});
    const auto other = stop_after_a_refusal();
    EXPECT_FALSE(primitive.try_acquire_for(1h, stop.get_token()));
    EXPECT_LT(lateness(), 500ms);
    EXPECT_TRUE(is_foreign());
}

TEST_P(Stopping, EndsAWaitForAServerStateToPass) {
    const auto primitive = make({.poll = 1h});
    warm_up(primitive);
    server.must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    const std::jthread other{[&] {
        auto own = server.raw();
        EXPECT_TRUE(eventually(10s, [&] { return std::stoll(own.info("total_error_replies")) >= 1; }));
        stopped_at = clock::now();
        stop.request_stop();
    }};
    EXPECT_FALSE(primitive.try_acquire_for(1h, stop.get_token()));
    EXPECT_LT(lateness(), 500ms);
    server.must({"CONFIG", "SET", "min-replicas-to-write", "0"});
    EXPECT_TRUE(primitive.try_acquire());
}

TEST_P(Stopping, AfterwardsLeavesTheGuardAlone) {
    const auto held = make().try_acquire_for(10s, stop.get_token());
    ASSERT_TRUE(held);
    stop.request_stop();
    EXPECT_TRUE(*held);
    EXPECT_FALSE(held->lost().stop_requested());
}

OVER_EVERY_MODEL(Stopping);

class ClosingClient : public contract {};

TEST_P(ClosingClient, EndsEveryWait) {
    occupy();
    raw.reset_stats();
    std::optional<client> closing{std::in_place, server.url()};
    const auto primitive = make_on(*closing, {.poll = 1h});
    std::jthread other{[&] {
        EXPECT_TRUE(wait_for_a_refusal());
        closing.reset();
    }};
    const stopwatch since_start;
    EXPECT_TRUE(fails_with(errc::stopped, [&] { static_cast<void>(primitive.acquire()); }));
    EXPECT_TRUE(fails_with(errc::stopped, [&] { static_cast<void>(primitive.try_acquire_for(1h)); }));
    other.join();
    EXPECT_LT(since_start.elapsed(), 5s);
    EXPECT_TRUE(is_foreign());
}

TEST_P(ClosingClient, LeavesItsGuardsInForce) {
    event_log told;
    std::optional<client> closing{std::in_place, server.url(), told.options()};
    auto held = make_on(*closing).acquire();
    closing.reset();
    EXPECT_TRUE(held);
    EXPECT_TRUE(held.extend());
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_EQ(holders(), 1);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_EQ(told.size(), 0u) << told.text();
}

TEST_P(ClosingClient, IsMovedWithItsPrimitivesAndGuards) {
    client first{server.url()};
    const auto primitive = make_on(first);
    const auto rival = rival_on(first);
    auto held = primitive.acquire();
    client second{std::move(first)};
    EXPECT_FALSE(rival.try_acquire_for(0ms));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(primitive.try_acquire_for(0ms));
    second = client{server.url()};  // ends what the old one had
    EXPECT_TRUE(fails_with(errc::stopped, [&] { static_cast<void>(primitive.try_acquire_for(0ms)); }));
}

OVER_EVERY_MODEL(ClosingClient);

}  // namespace
}  // namespace tranca::contract
