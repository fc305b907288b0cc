// What every new connection says first: account, database, name (cases H04, H09).
#include <gmock/gmock.h>

#include <future>
#include <string>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/connection.hpp>

#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/tcp_gate.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::Not;

using ConnectionHandshake = redis_fixture;

endpoint local(const redis_server& server) { return endpoint::parse(server.url()); }

// Each of case H09, taken verbatim as a member and percent-encoded in the URL.
TEST_F(ConnectionHandshake, TakesAnyPassword) {
    for (const auto& password : {"p@ss"s, "a:b"s, "a/b"s, "a#b"s, "a?b"s, "a%b"s, "a%40b"s, "a+b"s, "a b"s, "\xc3\xa9"s,
                                 "%s%n"s, "a\r\nb"s, "\"'\\"s, std::string(500, '*')}) {
        endpoint by_member = local(server);
        const fault secured = password_required(server, password);
        by_member.password = password;
        EXPECT_EQ(connection{by_member}.command(request{"PING"}).text(), "PONG") << password;
        EXPECT_EQ(connection{endpoint::parse(server.url())}.command(request{"PING"}).text(), "PONG") << server.url();
    }
}

TEST_F(ConnectionHandshake, LogsInAsAnAclUser) {
    const account worker{server, "w@rker:1", {"~*", "+@all"}};
    connection redis{endpoint::parse(worker.url())};
    EXPECT_EQ(redis.command(request{"ACL", "WHOAMI"}).text(), "w@rker:1");
}

TEST_F(ConnectionHandshake, RefusedPasswordIsAnAuthenticationErrorWithoutIt) {
    const fault secured = password_required(server, "the-right-one");
    for (const auto* account : {":the-wrong-one", "default:the-wrong-one", "nobody:the-wrong-one"}) {
        const auto url = "redis://"s + account + "@" + server.tcp().text();
        const auto failure = thrown_by([&] { return connection{endpoint::parse(url)}; });
        EXPECT_EQ(failure.code(), errc::authentication);
        EXPECT_FALSE(failure.temporary());
        EXPECT_THAT(failure.text(), HasSubstr("AUTH on redis://"));
        EXPECT_THAT(failure.text(), HasSubstr(server.tcp().text()));
        EXPECT_THAT(failure.what(), Not(HasSubstr("the-wrong-one")));
    }
}

TEST_F(ConnectionHandshake, PasswordNobodyAskedForIsAnAuthenticationErrorToo) {
    endpoint where = local(server);
    where.password = "pointless";
    const auto failure = thrown_by([&] { return connection{where}; });
    EXPECT_EQ(failure.code(), errc::authentication);
    EXPECT_THAT(failure.what(), Not(HasSubstr("pointless")));
}

TEST_F(ConnectionHandshake, MissingPasswordIsToldByTheFirstCommand) {
    const endpoint where = local(server);
    const fault secured = password_required(server, "x");
    connection redis{where};
    const auto failure = thrown_by([&] { return redis.command(request{"GET", "a"}); });
    EXPECT_EQ(failure.code(), errc::authentication);
    EXPECT_THAT(failure.text(), HasSubstr("GET \"a\""));
}

TEST_F(ConnectionHandshake, SelectsTheDatabase) {
    connection redis{endpoint::parse(server.url(5))};
    redis.command(request{"SET", "a", "1"});
    EXPECT_EQ(raw.dbsize(), 0);
    raw.must({"SELECT", "5"});
    EXPECT_EQ(raw.get("a"), "1");
}

TEST_F(ConnectionHandshake, DatabaseThatIsNotThereIsRefusedByName) {
    const account worker{server, "worker", {"~*", "+@all"}};
    for (const auto& url : {server.url(4'711), worker.url() + "/4711"}) {
        const auto failure = thrown_by([&] { return connection{endpoint::parse(url)}; });
        EXPECT_EQ(failure.code(), errc::server);
        EXPECT_THAT(failure.text(), HasSubstr("SELECT on redis://"));
        EXPECT_THAT(failure.text(), HasSubstr("DB index is out of range"));
    }
}

TEST_F(ConnectionHandshake, TellsItsName) {
    endpoint where = local(server);
    where.client_name = "worker-1/%s";
    connection redis{where};
    EXPECT_EQ(redis.command(request{"CLIENT", "GETNAME"}).text(), "worker-1/%s");
}

TEST_F(ConnectionHandshake, DoesWithoutANameWhereClientIsForbidden) {
    const auto limited = without(server, {"client"});
    connection redis{endpoint::parse(limited.url() + "?client_name=worker")};
    EXPECT_EQ(redis.command(request{"PING"}).text(), "PONG");
}

TEST_F(ConnectionHandshake, DoesNotDoWithoutItsDatabaseWhereSelectIsForbidden) {
    const auto limited = without(server, {"select"});
    const auto failure =
        thrown_by([&] { return connection{endpoint::parse(limited.url() + "/5?client_name=worker")}; });
    EXPECT_EQ(failure.code(), errc::no_permission);
    EXPECT_THAT(failure.text(), HasSubstr("SELECT"));
}

TEST_F(ConnectionHandshake, TakesOneRoundTrip) {
    const account worker{server, "worker", {"~*", "+@all"}};
    tcp_gate gate{server.tcp()};
    endpoint where = endpoint::parse(worker.url() + "/5?client_name=worker");
    where.port = gate.where().port;
    gate.hold_reply("AUTH");
    auto connecting = std::async(std::launch::async, [&] { return connection{where}; });
    EXPECT_TRUE(gate.wait_until_held(2s));
    EXPECT_TRUE(gate.wait_for_command(2s, "SELECT"));
    EXPECT_TRUE(gate.wait_for_command(2s, "CLIENT"));
    gate.let_go();
    EXPECT_EQ(connecting.get().command(request{"PING"}).text(), "PONG");
}

TEST_F(ConnectionHandshake, IsDoneAgainOnEveryNewConnection) {
    const account worker{server, "worker", {"~*", "+@all"}};
    client redis{worker.url() + "/5?client_name=worker-1&command_timeout=200ms"};
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(redis.command("ACL", "WHOAMI").text(), "worker");
        EXPECT_EQ(redis.command("CLIENT", "GETNAME").text(), "worker-1");
        redis.command("INCR", "counter");
        EXPECT_EQ(kill_connections(server, "worker-1"), 1);
    }
    EXPECT_EQ(raw.dbsize(), 0);
    raw.must({"SELECT", "5"});
    EXPECT_EQ(raw.get("counter"), "5");
    redis.command("PING");
    const fault ice = frozen(server);
    const stopwatch since_start;
    EXPECT_EQ(thrown_by([&] { return redis.command("PING"); }).code(), errc::timeout);
    EXPECT_GE(since_start.elapsed(), 200ms);
    EXPECT_LT(since_start.elapsed(), 800ms) << "it forgot its time limit";
}

}  // namespace
}  // namespace tranca::testing
