// A thousand signals a second: no error, and no time limit gets longer (case H03).
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <system_error>
#include <vector>

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

// Made while the server can still greet; one for each attempt.
class some_connections {
public:
    explicit some_connections(const std::string& url) {
        for (int i = 0; i < attempts_at_a_bound; ++i)
            made_.emplace_back(endpoint::parse(url));
    }
    [[nodiscard]] connection& next() { return made_.at(used_++); }

private:
    std::vector<connection> made_;
    std::size_t used_ = 0;
};

// 500 ms, 10 % more at most; never less.
void expect_half_a_second(const std::function<std::error_code()>& way_to_end, errc reason) {
    EXPECT_TRUE(once_below(551ms, [&] {
        const signal_storm storm;
        const stopwatch since_start;
        EXPECT_EQ(way_to_end(), reason);
        const auto took = since_start.elapsed_ms();
        EXPECT_GE(took.count(), 500);
        EXPECT_GT(storm.count(), 200) << "the storm was none";
        return took;
    }));
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
    some_connections to{server.url() + "?command_timeout=500ms"};
    const fault ice = frozen(server);
    expect_half_a_second([&] { return thrown_by([&] { return to.next().exchange(request{"PING"}); }).code(); },
                         errc::timeout);
}

TEST_F(ConnectionInterrupted, EndsACommandWithADeadlineOfItsOwnInTime) {
    some_connections to{server.url() + "?command_timeout=5s"};
    const fault ice = frozen(server);
    expect_half_a_second(
        [&] { return thrown_by([&] { return to.next().exchange(request{"PING"}, deadline_after(500ms)); }).code(); },
        errc::timeout);
}

TEST_F(ConnectionInterrupted, EndsSendingInTime) {
    some_connections to{server.url() + "?command_timeout=500ms"};
    const request large{"SET", "k", std::string(std::size_t{64} << 20U, 'x')};
    const fault ice = frozen(server);
    expect_half_a_second([&] { return thrown_by([&] { return to.next().exchange(large); }).code(); }, errc::timeout);
}

TEST_F(ConnectionInterrupted, EndsAConnectInTime) {
    const deaf_listener nobody;
    const auto where = endpoint::parse(nobody.url() + "?connect_timeout=500ms");
    expect_half_a_second([&] { return thrown_by([&] { return connection{where}; }).code(); }, errc::connect_failed);
}

TEST_F(ConnectionInterrupted, EndsAHandshakeInTime) {
    const auto where = endpoint::parse(server.url(3) + "?connect_timeout=500ms");
    const fault ice = frozen(server);
    expect_half_a_second([&] { return thrown_by([&] { return connection{where}; }).code(); }, errc::timeout);
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
