// The kit's servers and direct connections.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/port_claim.hpp"
#include "support/redis_fixture.hpp"
#include "support/resp.hpp"
#include "support/shared_memory.hpp"
#include "support/socket.hpp"
#include "support/tls_certificates.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::StartsWith;

using RawClient = redis_fixture;
using SharedServer = redis_fixture;

TEST(RedisServer, ServesOnAllItsAddresses) {
    const redis_server server;
    EXPECT_EQ(raw_client{server.tcp()}.command({"PING"}), "PONG");
    EXPECT_EQ(raw_client{server.unix_socket()}.command({"PING"}), "PONG");
    EXPECT_EQ(server.url(), "redis://127.0.0.1:" + std::to_string(server.port()));
    EXPECT_EQ(server.url(5), server.url() + "/5");
    EXPECT_EQ(server.unix_url(), "unix://" + server.unix_socket().path);
    EXPECT_EQ(server.unix_url(5), server.unix_url() + "?db=5");
    if (server.has_ipv6()) {
        EXPECT_EQ(raw_client{address::tcp(server.port(), "::1")}.command({"PING"}), "PONG");
    }
}

TEST(RedisServer, IsUpSoon) {
    const stopwatch since_start;
    const redis_server server;
    EXPECT_LT(since_start.elapsed(), 5s);  // some 20 ms on an idle machine
}

TEST(RedisServer, GoesWithItsObject) {
    pid_t pid = 0;
    std::filesystem::path home;
    {
        const redis_server server;
        pid = server.pid();
        home = server.directory();
        EXPECT_TRUE(std::filesystem::exists(home));
    }
    EXPECT_FALSE(is_alive(pid));
    EXPECT_FALSE(std::filesystem::exists(home));
}

TEST(RedisServer, OutlivesTheThreadThatStartedIt) {
    std::unique_ptr<redis_server> server;
    std::thread{[&] { server = std::make_unique<redis_server>(); }}.join();
    EXPECT_TRUE(throughout(50ms, [&] { return server->running(); }));
    EXPECT_EQ(server->command({"PING"}), "PONG");
}

TEST(RedisServer, DiesWithAKilledParent) {
    struct facts {
        std::atomic<pid_t> pid{0};
        char home[200]{};
    };
    shared_memory<facts> server;
    child_process parent{[&] {
        const redis_server short_lived;
        short_lived.directory().native().copy(server->home, sizeof server->home - 1);
        server->pid = short_lived.pid();
        ::pause();
    }};
    ASSERT_TRUE(eventually(5s, [&] { return server->pid != 0; }));
    EXPECT_TRUE(is_alive(server->pid));
    parent.kill_hard();
    EXPECT_TRUE(eventually(5s, [&] { return !is_alive(server->pid); }));
    std::filesystem::remove_all(server->home);  // nobody else is left to do it
}

TEST(RedisServer, IsLeftAloneByAForkedCopy) {
    auto server = std::make_unique<redis_server>();
    child_process child{[&] { server.reset(); }};
    EXPECT_EQ(child.wait(5s), exited(0));
    EXPECT_EQ(server->command({"PING"}), "PONG");
    EXPECT_TRUE(std::filesystem::exists(server->directory()));
}

TEST(RedisServer, FreezesAndResumes) {
    redis_server server;
    auto raw = raw_client{server.tcp(), {.timeout = 300ms}};
    server.freeze();
    server.freeze();
    EXPECT_THROW(raw.command({"SET", "late", "1"}), raw_error);
    server.resume();
    EXPECT_TRUE(eventually(5s, [&] { return server.raw().exists("late") == 1; }));  // it ran all the same
}

TEST(RedisServer, StartsAgainAtTheSamePlaceAndEmpty) {
    redis_server server;
    auto raw = server.raw();
    raw.set("k", "v");
    server.kill_hard();
    EXPECT_FALSE(server.running());
    EXPECT_THROW(raw.command({"PING"}), raw_error);
    server.start_again();
    EXPECT_EQ(raw.get("k"), std::nullopt);
    EXPECT_EQ(server.command({"PING"}), "PONG");
}

TEST(RedisServer, KeepsKeysWhereAsked) {
    redis_server server{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}};
    server.raw().set("k", "v");
    server.restart();
    EXPECT_EQ(server.raw().get("k"), "v");
}

TEST(RedisServer, AsksForItsPassword) {
    redis_server server{{.password = "p@ss/w:rd"}};
    EXPECT_TRUE(raw_client{server.tcp()}.command({"GET", "k"}).is_error("NOAUTH"));
    EXPECT_EQ(server.raw().command({"PING"}), "PONG");
    EXPECT_THAT(server.url(), StartsWith("redis://:p%40ss%2Fw%3Ard@127.0.0.1:"));
}

TEST(RedisServer, ServesTls) {
    const tls_certificates certificates;
    const redis_server server{{.tls = &certificates}};
    const auto knock = [&](const std::filesystem::path& authority) {
        auto client = process::start(
            {"openssl", "s_client", "-connect", server.tls().text(), "-verify_return_error", "-CAfile", authority},
            {.output = server.directory() / "s_client.log"});
        return client.wait(10s);
    };
    EXPECT_EQ(knock(certificates.ca()), exited(0));
    EXPECT_NE(knock(certificates.unrelated_ca()), exited(0));
    EXPECT_EQ(server.tls_url(), "rediss://127.0.0.1:" + std::to_string(server.tls().port));
}

TEST(RedisServer, SaysWhyItDidNotStart) {
    try {
        const redis_server server{{.arguments = {"--no-such-option", "yes"}}};
        ADD_FAILURE() << "it started";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("no-such-option"));
    }
}

TEST_F(SharedServer, IsEmptiedByFresh) {
    raw.set("k", "v");
    const auto sha = raw.must({"SCRIPT", "LOAD", "return 1"}).text;
    EXPECT_EQ(&fresh(), &server);
    EXPECT_EQ(raw.dbsize(), 0);
    EXPECT_TRUE(raw.command({"EVALSHA", sha, "0"}).is_error("NOSCRIPT"));
    EXPECT_EQ(raw.calls("set"), 0);
}

TEST_F(SharedServer, CountsConnectionsThatAreNotTheKits) {
    EXPECT_EQ(server.foreign_connections(), 0);
    const raw_client other{server.tcp(), {.name = "somebody"}};
    EXPECT_EQ(server.foreign_connections(), 1);
}

TEST_F(RawClient, ReadsEveryKindOfReply) {
    EXPECT_EQ(raw.command({"SET", "k", "v"}), "OK");
    EXPECT_EQ(raw.command({"GET", "k"}), "v");
    EXPECT_EQ(raw.command({"GET", "none"}), nullptr);
    EXPECT_EQ(raw.command({"INCR", "n"}), 1);
    EXPECT_TRUE(raw.command({"LPUSH", "k", "v"}).is_error("WRONGTYPE"));
    const auto list = raw.command({"MGET", "k", "none"});
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0], "v");
    EXPECT_EQ(list[1], nullptr);
    EXPECT_THROW(raw.must({"LPUSH", "k", "v"}), raw_error);
}

TEST_F(RawClient, HasHelpers) {
    raw.set("a", std::string{"\0\r\n%s", 5}, 10s);
    EXPECT_EQ(raw.get("a"), (std::string{"\0\r\n%s", 5}));
    EXPECT_GT(raw.pttl("a"), 9'000);
    EXPECT_EQ(raw.pttl("none"), -2);
    raw.set("b", "1");
    EXPECT_EQ(raw.pttl("b"), -1);
    EXPECT_THAT(raw.keys(), ElementsAre("a", "b"));
    EXPECT_EQ(raw.del("a"), 1);
    EXPECT_EQ(raw.exists("a"), 0);
    EXPECT_EQ(raw.calls("set"), 2);
    EXPECT_EQ(raw.calls("never"), 0);
    EXPECT_GE(raw.calls(), 8);
    EXPECT_EQ(raw.info("role"), "master");
    EXPECT_GE(raw.connected_clients(), 1);
    const auto received = raw.connections_received();
    const auto another = server.raw();
    EXPECT_EQ(raw.connections_received(), received + 1);
}

TEST_F(RawClient, KnowsItsOwnAddress) {
    EXPECT_THAT(raw.must({"CLIENT", "INFO"}).text, ::testing::HasSubstr(" addr=" + raw.local_address() + " "));
}

TEST_F(RawClient, ComesBackAfterTheServerClosed) {
    server.must({"CLIENT", "KILL", "ID", std::to_string(raw.id())});
    EXPECT_EQ(raw.command({"PING"}), "PONG");
}

TEST_F(RawClient, SurvivesADeadServerWithDefaultSigpipe) {
    struct sigaction action {};
    ::sigaction(SIGPIPE, nullptr, &action);
    ASSERT_EQ(action.sa_handler, SIG_DFL);
    redis_server dying;
    auto link = dying.raw();
    dying.kill_hard();
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(link.command({"SET", "k", std::string(100'000, 'x')}), raw_error);
    }
}

TEST(Resp, FindsTheEndOfAMessage) {
    EXPECT_EQ(frame_length("+OK\r\n:1\r\n"), 5u);
    EXPECT_EQ(frame_length("$3\r\na\r\n\r\n"), 9u);
    EXPECT_EQ(frame_length("$-1\r\n"), 5u);
    EXPECT_EQ(frame_length("*2\r\n:1\r\n*1\r\n$1\r\nx\r\n+"), 19u);
    EXPECT_EQ(frame_length("%1\r\n+a\r\n+b\r\n"), 12u);
    EXPECT_EQ(frame_length("*0\r\n"), 4u);
    for (const auto* part : {"$", "$3", "$3\r\nab", "*2\r\n:1\r\n", "+OK", "*1\r\n$1\r\nx"}) {
        EXPECT_EQ(frame_length(part), incomplete) << part;
    }
    for (const auto* bytes : {"\x16\x03\x01", "$x\r\n", "$1\r\nabc", "*-7\r\n", "hello"}) {
        EXPECT_EQ(frame_length(bytes), no_resp) << bytes;
    }
    EXPECT_EQ(request_length("PING\r\n*1"), 6u);
    EXPECT_THAT(command_words(encode_command({"SET", "a\r\nb", ""})), ElementsAre("SET", "a\r\nb", ""));
    EXPECT_THAT(command_words("SET a b\r\n"), ElementsAre("SET", "a", "b"));
}

TEST(Port, IsNobodyElsesAsLongAsItsProcessLives) {
    const auto mine = free_port();
    EXPECT_FALSE(claim_port(mine));
    shared_memory<std::uint16_t> theirs{std::uint16_t{0}};
    child_process other{[&] {
        EXPECT_FALSE(claim_port(mine));
        *theirs = free_port();
    }};
    EXPECT_EQ(other.wait(10s), exited(0));
    EXPECT_TRUE(claim_port(*theirs));
}

}  // namespace
}  // namespace tranca::testing
