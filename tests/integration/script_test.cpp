// Scripts on a real server: loaded once, told by the server's own hash, sent whole when it has forgotten them (case N01).
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/scripts.hpp>

#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/redis_fixture.hpp"
#include "support/replica_pair.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Script : public redis_fixture {
protected:
    connection redis{endpoint::parse(server.url())};
};

// Each test has scripts of its own, since a hash once learned is known for the life of the process.
const repeatable_script first_use{"return {KEYS[1], ARGV[1], 'first use'}"};
const repeatable_script echo{"return {KEYS[1], KEYS[2] or '', KEYS[3] or '', ARGV[1], ARGV[2]}"};
const repeatable_script count{"return redis.call('INCR', KEYS[1])"};
const repeatable_script broken{"this is no Lua"};
const repeatable_script failing{"return redis.call('LPUSH', KEYS[1], ARGV[1])"};
const repeatable_script in_time{"return 'in time'"};

TEST_F(Script, IsLoadedOnceAndThenRunByItsHash) {
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    EXPECT_EQ(run(redis, first_use.call({"a"}, "x"))[2].text(), "first use");
    EXPECT_EQ(run(redis, first_use.call({"b"}, "y"))[0].text(), "b");
    EXPECT_EQ(run(redis, first_use.call({"c"}, "z"))[1].text(), "z");
    EXPECT_THAT(names(monitor.commands_since(mark)), ElementsAre("SCRIPT", "EVALSHA", "EVALSHA", "EVALSHA"));
}

TEST_F(Script, TakesKeysAndArgumentsOfAnyBytes) {
    const auto mine = token::generate();
    const auto one = run(redis, echo.call({"k\0\r\n1"s}, mine, 7));
    EXPECT_EQ(one[0].text(), "k\0\r\n1"s);
    EXPECT_EQ(one[3].text(), mine.text());
    EXPECT_EQ(one[4].text(), "7");
    const auto three = run(redis, echo.call({"a", "b", "c"}, "%s%n", milliseconds{5}));
    EXPECT_EQ(three[1].text(), "b");
    EXPECT_EQ(three[2].text(), "c");
    EXPECT_EQ(three[3].text(), "%s%n");
}

TEST_F(Script, RefusesACallWithoutKeys) {
    EXPECT_EQ(thrown_by([] { return echo.call(std::initializer_list<std::string_view>{}, "x"); }).code(),
              errc::invalid_argument);
    EXPECT_NO_THROW(static_cast<void>(echo.call({"a", "b", "c", "d", "e", "f", "g"}, "x")));
}

TEST_F(Script, SurvivesAScriptFlushBeforeEveryCall) {
    for (int i = 1; i <= 20; ++i) {
        flush_scripts(server);
        EXPECT_EQ(run(redis, count.call({"counter"})).integer(), i);
        flush_scripts(server);
        EXPECT_EQ(run(redis, count.call({"other"})).integer(), i);
    }
}

TEST_F(Script, CalledBeforeAnybodyKnewItsHashSurvivesAFlushToo) {
    static const repeatable_script late{"return 'late'"};
    const auto call = late.call({"k"});
    EXPECT_FALSE(call.has_hash);
    EXPECT_EQ(run(redis, call).text(), "late");
    flush_scripts(server);
    EXPECT_EQ(run(redis, call).text(), "late");
    EXPECT_TRUE(late.call({"k"}).has_hash);
}

TEST_F(Script, SurvivesARestartOfTheServer) {
    redis_server own;
    client pool{own.url()};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run(*pool.pool(), count.call({"counter"})).integer(), 1);
        restart_without_persistence(own);
    }
}

TEST_F(Script, SurvivesAFailoverToAServerThatNeverSawIt) {
    replica_pair pair;
    client pool{pair.url()};
    EXPECT_EQ(run(*pool.pool(), count.call({"counter"})).integer(), 1);
    pair.wait_in_sync();
    pair.fail_over();
    EXPECT_EQ(run(*pool.pool(), count.call({"counter"})).integer(), 2);
}

TEST_F(Script, HashIsTheOneTheServerTells) {
    for (const auto* script : {&scripts::release_lock(), &scripts::extend_lock(), &scripts::check_lock(),
                               &scripts::release_slot(), &scripts::refresh_slot()}) {
        script->learn_hash(redis);
        EXPECT_EQ(raw.must({"SCRIPT", "LOAD", std::string{script->text()}}), script->hash());
        EXPECT_EQ(script->hash().size(), 40U);
    }
}

TEST_F(Script, OfTheLibraryStaysOneObject) {
    EXPECT_EQ(&scripts::release_lock(), &scripts::release_lock());
    const std::array all{scripts::release_lock().text(), scripts::extend_lock().text(), scripts::check_lock().text(),
                         scripts::release_slot().text(), scripts::refresh_slot().text()};
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_NE(all[i], all[j]);
}

TEST_F(Script, ThatIsNoLuaIsAServerError) {
    const auto failure = thrown_by([&] { return run(redis, broken.call({"a"})); });
    EXPECT_EQ(failure.code(), errc::server);
    EXPECT_THAT(failure.text(), HasSubstr("SCRIPT on redis://"));
    EXPECT_TRUE(redis.usable());
}

TEST_F(Script, ThatFailsNamesItsKey) {
    raw.set("text", "x");
    const auto failure = thrown_by([&] { return run(redis, failing.call({"text"}, "secret")); });
    EXPECT_EQ(failure.code(), errc::wrong_type);
    EXPECT_THAT(failure.text(), HasSubstr("\"text\""));
    EXPECT_THAT(failure.text(), ::testing::Not(HasSubstr("secret")));
}

// Loading it for the first time is part of the call.
TEST_F(Script, KeepsItsDeadlineAlsoWhenItIsNotLoadedYet) {
    connection patient{endpoint::parse(server.url() + "?command_timeout=3s")};
    const fault ice = frozen(server);
    const stopwatch since_start;
    const auto failure = thrown_by([&] { return run(patient, in_time.call({"k"}), deadline_after(100ms)); });
    EXPECT_EQ(failure.code(), errc::timeout);
    EXPECT_LT(since_start.elapsed(), 500ms);
}

}  // namespace
}  // namespace tranca::testing
