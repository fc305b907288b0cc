// A thousand signals a second: no error, and no time limit gets longer (case H03).
#include <gmock/gmock.h>

#include <string>

#include <tranca/connection.hpp>

#include "support/deadline.hpp"
#include "support/deaf_listener.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/signal_storm.hpp"
#include "support/tcp_gate.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

using ConnectionInterrupted = redis_fixture;

// 500 ms, 10 % more at most; never less.
void expect_half_a_second(const stopwatch& since_start, const signal_storm& storm) {
    EXPECT_GE(since_start.elapsed_ms().count(), 500);
    EXPECT_LE(since_start.elapsed_ms().count(), 550);
    EXPECT_GT(storm.count(), 200) << "the storm was none";
}

TEST_F(ConnectionInterrupted, ConnectsAllTheSame) {
    const auto where = endpoint::parse(server.url(3) + "?client_name=stormy");
    const signal_storm storm;
    const deadline end{500ms};
    while (!end.expired())
        ASSERT_EQ(connection{where}.command(request{"PING"}).text(), "PONG");
    EXPECT_GT(storm.count(), 200);
}

TEST_F(ConnectionInterrupted, AnswersAllTheSame) {
    connection redis{endpoint::parse(server.url())};
    const signal_storm storm;
    const deadline end{500ms};
    for (int i = 0; !end.expired(); ++i)
        ASSERT_EQ(redis.command(request{"ECHO", i}).text(), std::to_string(i));
    EXPECT_GT(storm.count(), 200);
}

TEST_F(ConnectionInterrupted, WaitsForABlockedAnswerAllTheSame) {
    connection redis{endpoint::parse(server.url() + "?command_timeout=5s")};
    const signal_storm storm;
    const stopwatch since_start;
    EXPECT_TRUE(redis.command(request{"BLPOP", "list", "0.4"}).is_nil());
    EXPECT_GE(since_start.elapsed(), 390ms);
    EXPECT_GT(storm.count(), 200);
}

TEST_F(ConnectionInterrupted, EndsACommandInTime) {
    connection redis{endpoint::parse(server.url() + "?command_timeout=500ms")};
    const fault ice = frozen(server);
    const signal_storm storm;
    const stopwatch since_start;
    EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}); }).code(), errc::timeout);
    expect_half_a_second(since_start, storm);
}

TEST_F(ConnectionInterrupted, EndsACommandWithADeadlineOfItsOwnInTime) {
    connection redis{endpoint::parse(server.url() + "?command_timeout=5s")};
    const fault ice = frozen(server);
    const signal_storm storm;
    const stopwatch since_start;
    EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}, deadline_after(500ms)); }).code(), errc::timeout);
    expect_half_a_second(since_start, storm);
}

TEST_F(ConnectionInterrupted, EndsSendingInTime) {
    connection redis{endpoint::parse(server.url() + "?command_timeout=500ms")};
    const request large{"SET", "k", std::string(std::size_t{64} << 20U, 'x')};
    const fault ice = frozen(server);
    const signal_storm storm;
    const stopwatch since_start;
    EXPECT_EQ(thrown_by([&] { return redis.exchange(large); }).code(), errc::timeout);
    expect_half_a_second(since_start, storm);
}

TEST_F(ConnectionInterrupted, EndsAConnectInTime) {
    const deaf_listener nobody;
    const auto where = endpoint::parse(nobody.url() + "?connect_timeout=500ms");
    const signal_storm storm;
    const stopwatch since_start;
    EXPECT_EQ(thrown_by([&] { return connection{where}; }).code(), errc::connect_failed);
    expect_half_a_second(since_start, storm);
}

TEST_F(ConnectionInterrupted, EndsAHandshakeInTime) {
    const auto where = endpoint::parse(server.url(3) + "?connect_timeout=500ms");
    const fault ice = frozen(server);
    const signal_storm storm;
    const stopwatch since_start;
    EXPECT_EQ(thrown_by([&] { return connection{where}; }).code(), errc::timeout);
    expect_half_a_second(since_start, storm);
}

TEST_F(ConnectionInterrupted, SendsAndReceivesInPiecesAllTheSame) {
    tcp_gate gate{server.tcp()};
    connection redis{endpoint::parse(gate.url() + "?command_timeout=20s")};
    const std::string large(std::size_t{8} << 20U, 'x');
    gate.throttle_requests(64U << 10U, 2ms);
    const signal_storm storm;
    EXPECT_TRUE(redis.command(request{"SET", "large", large}).is_ok());
    EXPECT_TRUE(redis.command(request{"GET", "large"}).text() == large);
    EXPECT_GT(storm.count(), 100);
}

}  // namespace
}  // namespace tranca::testing
