// Every state that makes a real server refuse, told apart (cases N03, N06, N09, N10, A17 on the wire).
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/scripts.hpp>

#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

enum class passing { yes, no };

class ServerStates : public redis_fixture {
protected:
    client redis{server.url()};

    error setting() {
        return thrown_by([&] { return redis.command("SET", "lock:a", "v"); });
    }
    error script_writing(const std::string& key = "lock:b") {
        return thrown_by(
            [&] { return redis.command("EVAL", "return redis.call('SET', KEYS[1], ARGV[1])", 1, key, "v"); });
    }
    error transaction() {
        return thrown_by([&] { return redis.pool()->borrow()->transaction(request{"SET", "lock:c", "v"}); });
    }
};

void expect_told(const error& failure, errc code, passing passes, const std::string& first_word) {
    EXPECT_EQ(failure.code(), make_error_code(code)) << failure.what();
    EXPECT_EQ(failure.temporary(), passes == passing::yes);
    EXPECT_FALSE(failure.in_doubt()) << "an answer leaves no doubt";
    EXPECT_THAT(failure.text(), HasSubstr(" on redis://"));
    EXPECT_THAT(failure.text(), HasSubstr(first_word));
}

TEST_F(ServerStates, Loading) {
    redis_server own;
    client to_own{own.url()};
    to_own.command("PING");
    const fault slow = loading(own);
    for (int i = 0; i < 3; ++i) {
        const auto failure = thrown_by([&] { return to_own.command("SET", "lock:a", "v"); });
        expect_told(failure, errc::loading, passing::yes, "SET \"lock:a\"");
    }
}

TEST_F(ServerStates, BusyWithAScript) {
    redis.command("PING");
    const fault busy = busy_script(server);
    expect_told(setting(), errc::busy_script, passing::yes, "SET \"lock:a\"");
    expect_told(script_writing(), errc::busy_script, passing::yes, "EVAL \"lock:b\"");
    expect_told(transaction(), errc::busy_script, passing::yes, "SET \"lock:c\"");
}

// Valkey answers SELECT all the same; there it is the command after it that is refused.
TEST_F(ServerStates, BusyWithAScriptDuringTheHandshake) {
    const auto flags = raw.must({"COMMAND", "INFO", "SELECT"})[0][2].items;
    const auto* const refused = std::count(flags.begin(), flags.end(), "allow_busy") == 0 ? "SELECT" : "PING";
    const fault busy = busy_script(server);
    const auto failure = thrown_by([&] { return client{server.url(5)}.command("PING"); });
    expect_told(failure, errc::busy_script, passing::yes, refused);
}

TEST_F(ServerStates, DiskError) {
    redis_server own;
    redis = client{own.url()};
    const fault broken = disk_error(own);
    expect_told(setting(), errc::misconf, passing::yes, "SET \"lock:a\"");
    expect_told(script_writing(), errc::misconf, passing::yes, "EVAL \"lock:b\"");
    expect_told(transaction(), errc::misconf, passing::yes, "SET \"lock:c\"");
}

TEST_F(ServerStates, OutOfMemory) {
    const fault full = out_of_memory(server);
    expect_told(setting(), errc::out_of_memory, passing::yes, "SET \"lock:a\"");
    expect_told(script_writing(), errc::out_of_memory, passing::yes, "EVAL \"lock:b\"");
    expect_told(transaction(), errc::out_of_memory, passing::yes, "SET \"lock:c\"");
}

// What was queued before the memory ran out is refused by EXEC alone, which gives the reason.
TEST_F(ServerStates, OutOfMemoryAfterACommandWasQueued) {
    auto line = redis.pool()->borrow();
    line->command(request{"MULTI"});
    line->command(request{"SET", "lock:a", "v"});
    const fault full = out_of_memory(server);
    const auto failure = thrown_by([&] { return line->command(request{"EXEC"}); });
    expect_told(failure, errc::out_of_memory, passing::yes, "EXEC");
}

TEST_F(ServerStates, TooFewReplicas) {
    const fault lonely = no_replicas(server);
    expect_told(setting(), errc::no_replicas, passing::yes, "SET \"lock:a\"");
    expect_told(script_writing(), errc::no_replicas, passing::yes, "EVAL \"lock:b\"");
    expect_told(transaction(), errc::no_replicas, passing::yes, "SET \"lock:c\"");
}

TEST_F(ServerStates, Demoted) {
    const fault replica = demoted(server);
    expect_told(setting(), errc::read_only, passing::yes, "SET \"lock:a\"");
    expect_told(script_writing(), errc::read_only, passing::yes, "EVAL \"lock:b\"");
    expect_told(transaction(), errc::read_only, passing::yes, "SET \"lock:c\"");
}

TEST_F(ServerStates, DemotedAndCutOffFromItsMaster) {
    const fault replica = demoted(server);
    const fault strict{[&, before = raw.config_get("replica-serve-stale-data")] {
        raw.config_set("replica-serve-stale-data", before);
    }};
    raw.config_set("replica-serve-stale-data", "no");
    const auto failure = thrown_by([&] { return redis.command("GET", "lock:a"); });
    expect_told(failure, errc::master_down, passing::yes, "GET \"lock:a\"");
}

TEST_F(ServerStates, DemotedWhileACommandWaits) {
    auto line = redis.pool()->borrow();
    line->send(request{"BLPOP", "list", 0});
    ASSERT_TRUE(eventually(std::chrono::seconds{2}, [&] { return raw.info("blocked_clients") == "1"; }));
    const fault replica = demoted(server);
    const auto answer = line->receive();
    ASSERT_TRUE(answer.is_error());
    EXPECT_EQ(classify_error_reply(answer.text()), errc::unblocked);
}

TEST_F(ServerStates, KeyOfAnotherType) {
    make_wrong_type(server, "lock:a");
    const auto failure = thrown_by([&] { return redis.command("GET", "lock:a"); });
    expect_told(failure, errc::wrong_type, passing::no, "GET \"lock:a\"");
    const auto inside =
        thrown_by([&] { return run(*redis.pool(), scripts::release_lock().call({"lock:a"}, token::generate())); });
    expect_told(inside, errc::wrong_type, passing::no, " \"lock:a\"");
    EXPECT_EQ(raw.command({"LLEN", "lock:a"}), 1);
}

TEST_F(ServerStates, AccountThatMayNot) {
    const auto no_set = without(server, {"set"});
    const auto app_only = only_keys(server, "app:*");
    for (const auto* limited : {&no_set, &app_only}) {
        redis = client{limited->url()};
        expect_told(setting(), errc::no_permission, passing::no, "SET \"lock:a\"");
        expect_told(script_writing(), errc::no_permission, passing::no, "EVAL \"lock:b\"");
        expect_told(transaction(), errc::no_permission, passing::no, "SET \"lock:c\"");
    }
}

TEST_F(ServerStates, AccountThatMayNotRunScripts) {
    const auto limited = without_scripting(server);
    redis = client{limited.url()};
    expect_told(script_writing(), errc::no_permission, passing::no, "EVAL \"lock:b\"");
    EXPECT_EQ(redis.command("SET", "a", "1").text(), "OK");
}

TEST_F(ServerStates, NotLoggedIn) {
    const auto url = server.url();
    const fault secured = password_required(server, "x");
    redis = client{url};
    expect_told(setting(), errc::authentication, passing::no, "SET \"lock:a\"");
}

TEST_F(ServerStates, PausedServerIsATimeOut) {
    redis = client{server.url() + "?command_timeout=100ms"};
    const fault pause = paused(server, std::chrono::seconds{10});
    const auto failure = setting();
    EXPECT_EQ(failure.code(), errc::timeout);
    EXPECT_TRUE(failure.in_doubt());
}

TEST_F(ServerStates, AnythingElseIsAServerErrorWithItsText) {
    const auto failure = thrown_by([&] { return redis.command("SET", "lock:a", "v", "PX", -1); });
    expect_told(failure, errc::server, passing::no, "SET \"lock:a\"");
    EXPECT_THAT(failure.text(), HasSubstr("invalid expire time"));
}

}  // namespace
}  // namespace tranca::testing
