// Several scripts in one write, some of them forgotten by the server (case N01).
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/script.hpp>

#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/redis_fixture.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using ::testing::ElementsAre;

class ScriptPipeline : public redis_fixture {
protected:
    connection redis{endpoint::parse(server.url())};
};

const script append{"return redis.call('APPEND', KEYS[1], ARGV[1])"};
const script other{"redis.call('APPEND', KEYS[1], ARGV[1]) return 'other ' .. ARGV[1]"};
const script wrong_type{"return redis.call('LPUSH', KEYS[1], ARGV[1])"};

TEST_F(ScriptPipeline, AnswersInOrder) {
    const std::array calls{append.call({"log"}, "1"), other.call({"log"}, "2"), append.call({"log"}, "3")};
    const auto answers = run_all(redis, calls);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[0].integer(), 1);
    EXPECT_EQ(answers[1].text(), "other 2");
    EXPECT_EQ(answers[2].integer(), 3);
    EXPECT_EQ(raw.get("log"), "123");
}

TEST_F(ScriptPipeline, OfNothingIsNothing) { EXPECT_TRUE(run_all(redis, {}).empty()); }

TEST_F(ScriptPipeline, IsOneWriteWhenTheHashesAreKnown) {
    append.learn_hash(redis);
    other.learn_hash(redis);
    for (const auto* script : {&append, &other})
        raw.must({"SCRIPT", "LOAD", std::string{script->text()}});
    const std::array calls{append.call({"log"}, "1"), other.call({"log"}, "2")};
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    EXPECT_EQ(run_all(redis, calls).size(), 2U);
    EXPECT_THAT(names(monitor.commands_since(mark)), ElementsAre("EVALSHA", "EVALSHA"));
}

TEST_F(ScriptPipeline, SendsWhatWasForgottenOnceMoreWhole) {
    for (int i = 0; i < 5; ++i) {
        raw.flush();
        const std::array calls{append.call({"a"}, "1"), other.call({"b"}, "2"), append.call({"c"}, "3")};
        flush_scripts(server);
        const auto answers = run_all(redis, calls);
        EXPECT_EQ(answers[0].integer(), 1);
        EXPECT_EQ(answers[1].text(), "other 2");
        EXPECT_EQ(answers[2].integer(), 1);
        EXPECT_EQ(raw.get("a"), "1");
        EXPECT_EQ(raw.get("c"), "3");
    }
}

TEST_F(ScriptPipeline, SendsOnlyWhatWasForgottenOnceMore) {
    append.learn_hash(redis);
    other.learn_hash(redis);
    flush_scripts(server);
    raw.must({"SCRIPT", "LOAD", std::string{other.text()}});
    const std::array calls{other.call({"log"}, "1"), append.call({"log"}, "2"), other.call({"log"}, "3")};
    const auto answers = run_all(redis, calls);
    EXPECT_EQ(answers[0].text(), "other 1");
    EXPECT_EQ(answers[1].integer(), 3);  // runs after the others, as said
    EXPECT_EQ(answers[2].text(), "other 3");
    EXPECT_EQ(raw.get("log"), "132");
}

TEST_F(ScriptPipeline, ReturnsErrorRepliesInTheirPlaces) {
    raw.set("text", "x");
    const std::array calls{append.call({"log"}, "1"), wrong_type.call({"text"}, "y"), append.call({"log"}, "2")};
    for (int i = 0; i < 2; ++i) {
        const auto answers = run_all(redis, calls);
        EXPECT_FALSE(answers[0].is_error());
        EXPECT_TRUE(answers[1].is_error());
        EXPECT_FALSE(answers[2].is_error());
        flush_scripts(server);
    }
    EXPECT_EQ(raw.get("log"), "1212");
}

// A demoted server that has forgotten one of them: both refusals are told.
TEST_F(ScriptPipeline, TellsEveryRefusalOfADemotedServer) {
    append.learn_hash(redis);
    other.learn_hash(redis);
    const std::array calls{append.call({"log"}, "1"), other.call({"log"}, "2")};
    const fault replica = demoted(server);
    flush_scripts(server);
    raw.must({"SCRIPT", "LOAD", std::string{other.text()}});
    const auto answers = run_all(redis, calls);
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(classify_error_reply(answers[1].text()), errc::read_only);
    EXPECT_TRUE(answers[0].is_error());
    EXPECT_FALSE(redis.usable());
}

}  // namespace
}  // namespace tranca::testing
