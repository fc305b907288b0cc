// Requests that leave in pieces and replies that come in pieces.
#include <gmock/gmock.h>

#include <string>

#include <tranca/connection.hpp>

#include "support/deadline.hpp"
#include "support/fake_server.hpp"
#include "support/redis_fixture.hpp"
#include "support/tcp_gate.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

class ConnectionPartial : public redis_fixture {
protected:
    // Over either kind of socket.
    template <class Check>
    void through_gates(Check&& check) {
        for (const auto kind : {transport::tcp, transport::unix_socket}) {
            tcp_gate gate{server.tcp(), kind};
            connection redis{endpoint::parse(gate.url() + "?command_timeout=20s")};
            check(gate, redis);
        }
    }
};

TEST_F(ConnectionPartial, RepliesOfEveryKindArriveByteByByte) {
    through_gates([&](tcp_gate& gate, connection& redis) {
        gate.fragment_replies(1, 50us);
        EXPECT_TRUE(redis.command(request{"SET", "a", "x\r\n\0y"s}).is_ok());
        EXPECT_EQ(redis.command(request{"GET", "a"}).text(), "x\r\n\0y"s);
        EXPECT_TRUE(redis.command(request{"GET", "none"}).is_nil());
        EXPECT_EQ(redis.command(request{"STRLEN", "a"}).integer(), 5);
        EXPECT_TRUE(redis.exchange(request{"LPUSH", "a", "x"}).is_error());
        const auto nested = redis.command(request{"EVAL", "return {1, {'two', {}}, false}", 0});
        EXPECT_EQ(nested[1][0].text(), "two");
        EXPECT_TRUE(nested[2].is_nil());
    });
}

TEST_F(ConnectionPartial, RepliesOfAPipelineArriveCutAnywhere) {
    through_gates([&](tcp_gate& gate, connection& redis) {
        request many;
        for (int i = 0; i < 50; ++i)
            many.add("ECHO", std::string(static_cast<std::size_t>(i), 'x')).add("INCR", "counter");
        for (const std::size_t piece : {2U, 3U, 7U, 64U, 1'000U}) {
            gate.fragment_replies(piece, 10us);
            const auto answers = redis.pipeline(many);
            ASSERT_EQ(answers.size(), 100U);
            for (std::size_t i = 0; i < 50; ++i)
                ASSERT_EQ(answers[2 * i].text().size(), i) << piece;
        }
    });
}

TEST_F(ConnectionPartial, LargeRequestLeavesInPiecesAndComesBackWhole) {
    std::string large(std::size_t{4} << 20U, '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>(i * 131 + i / 65'537);
    through_gates([&](tcp_gate& gate, connection& redis) {
        gate.throttle_requests(256U << 10U, 1ms);
        EXPECT_TRUE(redis.command(request{"SET", "large", large}).is_ok());
        EXPECT_TRUE(raw.get("large") == large);
        EXPECT_TRUE(redis.command(request{"GET", "large"}).text() == large);
    });
}

// Cut off at every byte of a reply: lost and in doubt, never half an answer.
TEST_F(ConnectionPartial, ReplyCutOffAnywhereIsAnError) {
    raw.set("a", "hello");
    const std::string reply = "$5\r\nhello\r\n";
    tcp_gate gate{server.tcp()};
    for (std::size_t bytes = 0; bytes < reply.size(); ++bytes)
        for (const auto how : {ending::close, ending::reset}) {
            connection redis{endpoint::parse(gate.url())};
            static_cast<void>(redis.command(request{"PING"}));
            gate.cut_after(bytes, direction::to_client, how);
            const auto failure = thrown_by([&] { return redis.exchange(request{"GET", "a"}); });
            EXPECT_EQ(failure.code(), errc::connection_lost) << bytes;
            EXPECT_TRUE(failure.in_doubt());
            EXPECT_FALSE(redis.usable());
        }
}

// Cut off at every byte of a request, the server cannot have run it, but that is more than a client can know.
TEST_F(ConnectionPartial, RequestCutOffAnywhereIsAnError) {
    const request set{"SET", "a", "1"};
    tcp_gate gate{server.tcp()};
    for (std::size_t bytes = 0; bytes < set.bytes().size(); bytes += 4) {
        connection redis{endpoint::parse(gate.url())};
        static_cast<void>(redis.command(request{"PING"}));
        gate.cut_after(bytes, direction::to_server);
        EXPECT_EQ(thrown_by([&] { return redis.exchange(set); }).code(), errc::connection_lost) << bytes;
        EXPECT_FALSE(redis.usable());
    }
    EXPECT_EQ(raw.exists("a"), 0);
}

}  // namespace
}  // namespace tranca::testing
