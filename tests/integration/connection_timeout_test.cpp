// Time limits, and that a connection which missed one is never used again (cases H01, H08).
#include <gmock/gmock.h>

#include <string>

#include <tranca/client.hpp>
#include <tranca/connection.hpp>

#include "support/deadline.hpp"
#include "support/fake_server.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/tcp_gate.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ConnectionTimeout : public redis_fixture {
protected:
    [[nodiscard]] connection patient(milliseconds limit) const {
        endpoint where = endpoint::parse(server.url());
        where.command_timeout = limit;
        return connection{where};
    }
};

TEST_F(ConnectionTimeout, ComesWhenTheLimitIsOverAndLeavesADoubt) {
    EXPECT_TRUE(once_below(250ms, [&] {
        auto redis = patient(150ms);
        const fault ice = frozen(server);
        const stopwatch since_start;
        const auto failure = thrown_by([&] { return redis.exchange(request{"SET", "lock:a", "v"}); });
        const auto took = since_start.elapsed();
        EXPECT_GE(took, 150ms);
        EXPECT_EQ(failure.code(), errc::timeout);
        EXPECT_TRUE(failure.in_doubt());
        EXPECT_FALSE(failure.temporary());
        EXPECT_THAT(failure.text(), HasSubstr("SET \"lock:a\" on redis://" + server.tcp().text()));
        return took;
    }));
}

TEST_F(ConnectionTimeout, PoisonsTheConnectionForGood) {
    auto redis = patient(50ms);
    {
        const fault ice = frozen(server);
        EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"ECHO", "late"}); }).code(), errc::timeout);
    }
    EXPECT_TRUE(eventually(2s, [&] { return raw.calls("echo") == 1; }));  // the late answer is under way now
    EXPECT_FALSE(redis.usable());
    EXPECT_TRUE(redis.stale());
    const auto refuse = [](auto&& call) {
        const auto failure = thrown_by(call);
        EXPECT_EQ(failure.code(), errc::connection_lost);
        EXPECT_FALSE(failure.in_doubt()) << "nothing was sent";
    };
    for (int i = 0; i < 3; ++i) {
        refuse([&] { return redis.exchange(request{"ECHO", "next"}); });
        refuse([&] { return redis.command(request{"ECHO", "next"}); });
        refuse([&] { return redis.pipeline(request{"ECHO", "next"}); });
        refuse([&] { return redis.transaction(request{"ECHO", "next"}); });
        refuse([&] { redis.send(request{"ECHO", "next"}); });
        refuse([&] { return redis.receive(); });
    }
    EXPECT_EQ(raw.calls("echo"), 1);
}

TEST_F(ConnectionTimeout, OfAReceivePoisonsToo) {
    auto redis = patient(50ms);
    redis.send(request{"BLPOP", "list", 0});
    const auto failure = thrown_by([&] { return redis.receive(); });
    EXPECT_EQ(failure.code(), errc::timeout);
    EXPECT_THAT(failure.text(), HasSubstr("BLPOP \"list\""));
    raw.must({"LPUSH", "list", "late"});
    EXPECT_EQ(thrown_by([&] { return redis.receive(); }).code(), errc::connection_lost);
}

// Case H01: the answer that comes late is never the next command's.
TEST_F(ConnectionTimeout, LateAnswerIsNotTakenForTheNext) {
    raw.set("one", "of one");
    raw.set("two", "of two");
    client redis{server.url() + "?command_timeout=500ms"};
    redis.command("PING");
    for (int i = 0; i < 3; ++i) {
        {
            const fault ice = frozen(server);
            EXPECT_EQ(thrown_by([&] { return redis.command("GET", "one"); }).code(), errc::timeout);
        }
        EXPECT_EQ(redis.command("GET", "two").text(), "of two");
        EXPECT_EQ(redis.command("ECHO", "x").text(), "x");
    }
    EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == 1; })) << "the poisoned ones stay open";
}

TEST_F(ConnectionTimeout, CanBeShorterOrLongerForOneCall) {
    auto redis = patient(200ms);
    const stopwatch since_start;
    EXPECT_TRUE(redis.exchange(request{"BLPOP", "list", "0.4"}, deadline_after(2s)).is_nil());
    EXPECT_GE(since_start.elapsed(), 390ms);
    EXPECT_TRUE(once_below(150ms, [&] {
        auto hasty = patient(200ms);
        const stopwatch since_second;
        const auto failure = thrown_by([&] {
            return hasty.exchange(request{"BLPOP", "list", 5}, deadline_after(50ms));
        });
        const auto took = since_second.elapsed();
        EXPECT_EQ(failure.code(), errc::timeout);
        EXPECT_GE(took, 50ms);
        return took;
    }));
}

TEST_F(ConnectionTimeout, InThePastEndsAtOnce) {
    for (const auto past : {clock::now() - 1h, clock::time_point{}}) {
        EXPECT_TRUE(once_below(100ms, [&] {
            auto redis = patient(5s);
            const fault ice = frozen(server);
            const stopwatch since_start;
            EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}, past); }).code(), errc::timeout);
            EXPECT_FALSE(redis.usable());
            return since_start.elapsed();
        }));
    }
}

TEST_F(ConnectionTimeout, MayBeTheEndOfTime) {
    auto redis = patient(longest_duration);
    EXPECT_EQ(redis.exchange(request{"PING"}).text(), "PONG");
    EXPECT_EQ(redis.exchange(request{"PING"}, clock::time_point::max()).text(), "PONG");
    EXPECT_EQ(redis.pipeline(request{"PING"}.add("PING"), clock::time_point::max()).size(), 2U);
}

TEST_F(ConnectionTimeout, OfOneMillisecondIsKept) {
    EXPECT_TRUE(once_below(100ms, [&] {
        auto redis = patient(1ms);
        const fault ice = frozen(server);
        const stopwatch since_start;
        EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}); }).code(), errc::timeout);
        return since_start.elapsed();
    }));
}

// Every byte that comes must not start the time again.
TEST_F(ConnectionTimeout, IsNotProlongedByAnswersThatDrip) {
    raw.set("text", std::string(1'000, 'x'));
    tcp_gate gate{server.tcp()};
    gate.fragment_replies(1, 20ms);
    EXPECT_TRUE(once_below(300ms, [&] {
        connection redis{endpoint::parse(gate.url() + "?command_timeout=200ms")};
        const stopwatch since_start;
        EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"GET", "text"}); }).code(), errc::timeout);
        const auto took = since_start.elapsed();
        EXPECT_GE(took, 200ms);
        return took;
    }));
}

TEST_F(ConnectionTimeout, IsForThePipelineAsAWhole) {
    const fake_server slow{[](const seen_command& command) {
        return fake_answer{.bytes = "+OK\r\n", .after = 120ms * std::stoi(command.arguments.at(1))};
    }};
    request many;
    for (int i = 1; i <= 10; ++i)
        many.add("PING", i);
    EXPECT_TRUE(once_below(400ms, [&] {
        connection redis{endpoint::parse(slow.url() + "?command_timeout=300ms")};
        const stopwatch since_start;
        EXPECT_EQ(thrown_by([&] { return redis.pipeline(many); }).code(), errc::timeout);
        const auto took = since_start.elapsed();
        EXPECT_GE(took, 300ms);
        return took;
    }));
}

// The time a request takes to leave counts as well.
TEST_F(ConnectionTimeout, IsForSendingAndReceivingTogether) {
    tcp_gate gate{server.tcp()};
    gate.throttle_requests(1U << 20U, 20ms);
    const request large{"SET", "k", std::string(std::size_t{24} << 20U, 'x')};  // takes some 400 ms
    EXPECT_TRUE(once_below(750ms, [&] {
        connection redis{endpoint::parse(gate.url() + "?command_timeout=600ms")};
        gate.hold_reply("SET");
        const stopwatch since_start;
        EXPECT_EQ(thrown_by([&] { return redis.exchange(large); }).code(), errc::timeout);
        const auto took = since_start.elapsed();
        EXPECT_GE(took, 600ms);
        return took;
    }));
}

TEST_F(ConnectionTimeout, EndsSendingToAServerThatReadsNothing) {
    const request large{"SET", "k", std::string(std::size_t{64} << 20U, 'x')};
    EXPECT_TRUE(once_below(400ms, [&] {
        auto redis = patient(200ms);
        const fault ice = frozen(server);
        const stopwatch since_start;
        const auto failure = thrown_by([&] { return redis.exchange(large); });
        const auto took = since_start.elapsed();
        EXPECT_EQ(failure.code(), errc::timeout);
        EXPECT_FALSE(failure.in_doubt()) << "a command that did not leave whole cannot have been run";
        EXPECT_GE(took, 200ms);
        EXPECT_FALSE(redis.usable());
        return took;
    }));
}

}  // namespace
}  // namespace tranca::testing
