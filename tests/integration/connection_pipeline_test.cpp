// Several commands in one write, transactions, and sending without waiting.
#include <gmock/gmock.h>

#include <string>

#include <tranca/client.hpp>
#include <tranca/connection.hpp>

#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ConnectionPipeline : public redis_fixture {
protected:
    connection redis{endpoint::parse(server.url())};
};
using ConnectionTransaction = ConnectionPipeline;
using ConnectionSend = ConnectionPipeline;

TEST_F(ConnectionPipeline, AnswersInOrder) {
    request many;
    for (int i = 0; i < 10'000; ++i)
        many.add("ECHO", i);
    const auto answers = redis.pipeline(many);
    ASSERT_EQ(answers.size(), 10'000U);
    for (std::size_t i = 0; i < answers.size(); ++i)
        ASSERT_EQ(answers[i].text(), std::to_string(i));
}

TEST_F(ConnectionPipeline, ReturnsErrorRepliesInTheirPlaces) {
    raw.set("text", "x");
    const auto answers = redis.pipeline(request{"GET", "text"}.add("LPUSH", "text", "y").add("NONSENSE").add("PING"));
    ASSERT_EQ(answers.size(), 4U);
    EXPECT_EQ(answers[0].text(), "x");
    EXPECT_TRUE(answers[1].is_error());
    EXPECT_TRUE(answers[2].is_error());
    EXPECT_EQ(answers[3].text(), "PONG");
    EXPECT_TRUE(redis.usable());
}

TEST_F(ConnectionPipeline, BringsManyLargeRepliesHome) {
    const std::string large(100'000, 'x');
    raw.set("large", large);
    request many;
    for (int i = 0; i < 200; ++i)
        many.add("GET", "large");
    const auto answers = redis.pipeline(many, deadline_after(20s));
    ASSERT_EQ(answers.size(), 200U);
    for (const auto& answer : answers)
        ASSERT_TRUE(answer.text() == large);
}

TEST_F(ConnectionPipeline, OfNothingIsAnsweredAtOnceByNothing) {
    const stopwatch since_start;
    EXPECT_TRUE(redis.pipeline(request{}).empty());
    EXPECT_LT(since_start.elapsed(), 500ms);
    EXPECT_TRUE(redis.usable());
}

// One command has one answer; the second one's would be taken for that of whatever comes next.
TEST_F(ConnectionPipeline, IsRefusedWhereOneCommandIsExpected) {
    const auto two = request{"SET", "a", "1"}.add("GET", "a");
    EXPECT_EQ(thrown_by([&] { return redis.exchange(two); }).code(), errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { return redis.command(two); }).code(), errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { return redis.exchange(request{}); }).code(), errc::invalid_argument);
    EXPECT_TRUE(redis.usable());
    EXPECT_EQ(raw.exists("a"), 0) << "something was sent";
    EXPECT_EQ(redis.command(request{"PING"}).text(), "PONG");
}

TEST_F(ConnectionPipeline, ThroughAClientIsRefusedToo) {
    client pool{server.url()};
    EXPECT_EQ(thrown_by([&] { return pool.run(request{"GET", "a"}.add("GET", "b")); }).code(), errc::invalid_argument);
    EXPECT_EQ(pool.command("PING").text(), "PONG");
}

TEST_F(ConnectionTransaction, ReturnsWhatExecAnswers) {
    const auto results = redis.transaction(request{"SET", "a", "1"}.add("INCR", "a").add("GET", "a"));
    ASSERT_EQ(results.size(), 3U);
    EXPECT_TRUE(results[0].is_ok());
    EXPECT_EQ(results[1].integer(), 2);
    EXPECT_EQ(results[2].text(), "2");
}

TEST_F(ConnectionTransaction, IsNilWhenAWatchedKeyChanged) {
    redis.command(request{"WATCH", "a"});
    raw.set("a", "changed");
    EXPECT_TRUE(redis.transaction(request{"SET", "a", "mine"}).is_nil());
    EXPECT_EQ(raw.get("a"), "changed");
}

TEST_F(ConnectionTransaction, OfNothingIsAnEmptyArray) { EXPECT_EQ(redis.transaction(request{}).size(), 0U); }

TEST_F(ConnectionTransaction, ThrowsWhatWasRefusedWhileQueueing) {
    const auto failure = thrown_by([&] {
        return redis.transaction(request{"SET", "a", "1"}.add("NONSENSE", "b", "secret"));
    });
    EXPECT_EQ(failure.code(), errc::server);
    EXPECT_THAT(failure.text(), HasSubstr("unknown command"));
    EXPECT_THAT(failure.text(), HasSubstr("NONSENSE \"b\""));
    EXPECT_EQ(raw.exists("a"), 0);
    EXPECT_EQ(redis.command(request{"PING"}).text(), "PONG");
}

TEST_F(ConnectionTransaction, ThrowsWhatFailedWhileRunningAndNamesThatCommand) {
    raw.set("text", "x");
    const auto failure = thrown_by([&] {
        return redis.transaction(request{"SET", "a", "1"}.add("LPUSH", "text", "y"));
    });
    EXPECT_EQ(failure.code(), errc::wrong_type);
    EXPECT_THAT(failure.text(), HasSubstr("LPUSH \"text\""));
    EXPECT_EQ(raw.get("a"), "1");
    EXPECT_EQ(redis.command(request{"PING"}).text(), "PONG");
}

TEST_F(ConnectionSend, LeavesTheAnswersForLater) {
    redis.send(request{"SET", "a", "1"}.add("GET", "a"));
    redis.send(request{"PING"});
    EXPECT_TRUE(redis.receive().is_ok());
    EXPECT_EQ(redis.receive().text(), "1");
    EXPECT_EQ(redis.receive().text(), "PONG");
}

TEST_F(ConnectionSend, ReturnsBeforeTheAnswerIsThere) {
    const stopwatch since_start;
    redis.send(request{"BLPOP", "list", 5});
    EXPECT_LT(since_start.elapsed(), 1s);
    EXPECT_TRUE(redis.stale()) << "it is of no use to anybody else";
    EXPECT_EQ(redis.awaited(), 1U);
    raw.must({"LPUSH", "list", "x"});
    EXPECT_EQ(redis.receive()[1].text(), "x");
    EXPECT_FALSE(redis.stale());
    EXPECT_EQ(redis.awaited(), 0U);
}

TEST_F(ConnectionSend, LetsNothingElseTakeTheAnswers) {
    redis.send(request{"ECHO", "first"});
    EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"ECHO", "second"}); }).code(), errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { return redis.pipeline(request{"ECHO", "second"}); }).code(), errc::invalid_argument);
    EXPECT_EQ(redis.receive().text(), "first");
    EXPECT_EQ(redis.exchange(request{"ECHO", "second"}).text(), "second");
}

// Somebody who sent and went away, by an exception say, must not leave the answer to the next borrower.
TEST_F(ConnectionSend, WhoseAnswerNobodyTookEndsThePooledConnection) {
    client pool{server.url()};
    pool.pool()->borrow()->send(request{"ECHO", "of somebody else"});
    EXPECT_EQ(pool.command("ECHO", "mine").text(), "mine");
    pool.pool()->borrow()->send(request{"BLPOP", "list", 0});
    EXPECT_TRUE(eventually(2s, [&] { return raw.info("blocked_clients") == "0"; })) << "it still waits for a list";
}

}  // namespace
}  // namespace tranca::testing
