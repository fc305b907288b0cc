// A connection that was switched to RESP3 gives the same answers, if hiredis knows that protocol (case H17).
#include <gmock/gmock.h>

#include <string>

#include <tranca/connection.hpp>
#include <tranca/scripts.hpp>

#include "support/fake_server.hpp"
#include "support/redis_fixture.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

class Resp3 : public redis_fixture {
protected:
    connection redis{endpoint::parse(server.url())};
};

#ifdef TRANCA_TEST_RESP3

TEST_F(Resp3, GivesTheSameAnswers) {
    EXPECT_FALSE(redis.command(request{"HELLO", 3}).size() == 0);
    EXPECT_TRUE(redis.command(request{"GET", "none"}).is_nil());
    EXPECT_TRUE(redis.command(request{"SET", "a", "1"}).is_ok());
    EXPECT_EQ(redis.command(request{"INCR", "a"}).integer(), 2);
    redis.command(request{"ZADD", "set", "1.5", "m"});
    EXPECT_EQ(redis.command(request{"ZSCORE", "set", "m"}).text(), "1.5");
    redis.command(request{"HSET", "hash", "f", "v"});
    EXPECT_EQ(redis.command(request{"HGETALL", "hash"})[1].text(), "v");
    EXPECT_TRUE(redis.exchange(request{"LPUSH", "a", "x"}).is_error());
    EXPECT_EQ(run(redis, scripts::release_lock().call({"none"}, token::generate())).integer(), 0);
    redis.command(request{"WATCH", "a"});
    raw.set("a", "3");
    EXPECT_TRUE(redis.transaction(request{"GET", "a"}).is_nil());
}

// Redis tells a tracking client of changed keys whenever they change, also between two replies.
TEST_F(Resp3, DoesNotTakeAMessageForAReply) {
    redis.command(request{"HELLO", 3});
    redis.command(request{"CLIENT", "TRACKING", "ON", "BCAST"});
    for (int i = 0; i < 20; ++i) {
        raw.set("a", std::to_string(i));
        EXPECT_EQ(redis.command(request{"GET", "a"}).text(), std::to_string(i));
    }
}

TEST_F(Resp3, DoesNotTakeAMessageForAReplyWhereverItStands) {
    const fake_server chatty{always(">2\r\n+invalidate\r\n_\r\n+mine\r\n")};
    connection other{endpoint::parse(chatty.url())};
    EXPECT_EQ(other.exchange(request{"PING"}).text(), "mine");
    const auto answers = other.pipeline(request{"PING"}.add("PING"));
    EXPECT_EQ(answers[1].text(), "mine");
}

#else

TEST_F(Resp3, IsAProtocolErrorForAHiredisThatDoesNotKnowIt) {
    EXPECT_EQ(thrown_by([&] { return redis.command(request{"HELLO", 3}); }).code(), errc::protocol);
    EXPECT_FALSE(redis.usable());
}

#endif

}  // namespace
}  // namespace tranca::testing
