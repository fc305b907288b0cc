// Peers that do not speak the Redis protocol, or not to its end: each gives an error, in time.
#include <gmock/gmock.h>

#include <string>

#include <tranca/client.hpp>
#include <tranca/connection.hpp>

#include "support/deadline.hpp"
#include "support/fake_server.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// What a command to this server ends with, soon. Its time is over only where that is what is looked for.
error outcome(const fake_server& server, const std::string& time = "5s") {
    connection redis{endpoint::parse(server.url() + "?command_timeout=" + time)};
    const stopwatch since_start;
    const auto failure = thrown_by([&] { return redis.exchange(request{"GET", "lock:a"}); });
    EXPECT_LT(since_start.elapsed(), 1500ms);
    EXPECT_FALSE(redis.usable());
    EXPECT_THAT(failure.text(), HasSubstr("GET \"lock:a\" on redis://" + server.where().text()));
    EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}); }).code(), errc::connection_lost);
    return failure;
}

void expect_protocol_error(const fake_server& server) {
    const auto failure = outcome(server);
    EXPECT_EQ(failure.code(), errc::protocol) << failure.what();
    EXPECT_TRUE(failure.in_doubt());
}

void expect_lost(const fake_server& server) {
    const auto failure = outcome(server);
    EXPECT_EQ(failure.code(), errc::connection_lost) << failure.what();
    EXPECT_TRUE(failure.in_doubt());
}

void expect_timeout(const fake_server& server) {
    const auto failure = outcome(server, "150ms");
    EXPECT_EQ(failure.code(), errc::timeout) << failure.what();
    EXPECT_TRUE(failure.in_doubt());
}

TEST(BadServer, ThatSendsGarbage) {
    expect_protocol_error(fake_server{garbage()});
    for (const auto& bytes :
         {"HTTP/1.1 400 Bad Request\r\n\r\n"s, "\x16\x03\x03\0\x02"s, "\r\n"s, "SSH-2.0-OpenSSH_9.2\r\n"s, "\0"s,
          ":12x\r\n"s, "$-7\r\n"s, "*-7\r\n"s, "$1x\r\n"s, "*1\r\n?\r\n"s})
        expect_protocol_error(fake_server{always(bytes)});
}

TEST(BadServer, ThatClosesInsteadOfAnswering) {
    expect_lost(fake_server{closing(ending::close)});
    expect_lost(fake_server{closing(ending::reset)});
}

TEST(BadServer, ThatClosesAfterHalfAnAnswer) {
    expect_lost(fake_server{truncated_reply(ending::close)});
    expect_lost(fake_server{truncated_reply(ending::reset)});
    expect_lost(fake_server{always("*3\r\n:1\r\n:2\r\n", ending::close)});
    expect_lost(fake_server{always("+O", ending::close)});
}

TEST(BadServer, ThatNeverAnswers) { expect_timeout(fake_server{never_answering()}); }

TEST(BadServer, ThatNeverEndsItsAnswer) {
    expect_timeout(fake_server{truncated_reply(ending::keep_open)});
    expect_timeout(fake_server{always("*2\r\n+OK\r\n")});
    expect_timeout(fake_server{always("+OK")});
    expect_timeout(fake_server{always("$")});
}

TEST(BadServer, ThatAnnouncesMoreThanItSends) {
    for (const auto* length : {"536870912", "2147483647", "9223372036854775807"})
        expect_timeout(fake_server{bulk_header(length)});
    for (const auto* length : {"99999999999999999999", "-2147483648"})
        expect_protocol_error(fake_server{bulk_header(length)});
}

// An array's header costs the server ten bytes; it must not cost the client its memory, or minutes.
TEST(BadServer, ThatAnnouncesAHugeArray) {
    for (const auto* header : {"*100000000\r\n", "*1000000000\r\n", "*2147483647\r\n", "*4294967295\r\n",
                               "*9223372036854775807\r\n", "*1\r\n*1000000000\r\n"}) {
        const auto failure = outcome(fake_server{always(header)});
        EXPECT_EQ(failure.code(), errc::protocol) << header << failure.what();
    }
}

TEST(BadServer, ThatNestsDeeperThanAnyAnswerOfRedis) {
    expect_protocol_error(fake_server{nested_arrays(10'000)});
    expect_protocol_error(fake_server{nested_arrays(1'000'000)});
}

TEST(BadServer, ThatSendsALargeAnswerIsNone) {
    const fake_server strings{huge_bulk(std::size_t{64} << 20U)};
    EXPECT_EQ(
        connection{endpoint::parse(strings.url() + "?command_timeout=30s")}.exchange(request{"GET", "a"}).text().size(),
        std::size_t{64} << 20U);
    const fake_server arrays{huge_array(500'000)};
    EXPECT_EQ(connection{endpoint::parse(arrays.url() + "?command_timeout=30s")}.exchange(request{"GET", "a"}).size(),
              500'000U);
}

TEST(BadServer, ThatHangsUpOnEveryCaller) {
    for (const auto how : {ending::close, ending::reset}) {
        const auto server = fake_server::closing_after_accept(how);
        client redis{server->url()};
        for (int i = 0; i < 5; ++i)
            EXPECT_THAT(thrown_by([&] { return redis.command("PING"); }).reason(),
                        AnyOf(errc::connection_lost, errc::connect_failed));
        EXPECT_LE(server->connections_seen(), 5U) << "it was called again behind the caller's back";
    }
}

TEST(BadServer, ThatRefusesWithAReasonBeforeItHangsUp) {
    const auto full = fake_server::greeting({.bytes = "-ERR max number of clients reached\r\n", .then = ending::close});
    const auto guarded =
        fake_server::greeting({.bytes = "-DENIED Redis is running in protected mode\r\n", .then = ending::close});
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(thrown_by([&] { return client{full->url()}.command("PING"); }).code(), errc::max_clients);
        EXPECT_EQ(thrown_by([&] { return client{guarded->url()}.command("PING"); }).code(), errc::authentication);
        EXPECT_EQ(thrown_by([&] { return connection{endpoint::parse(full->url() + "/5")}; }).code(), errc::max_clients);
    }
}

// One answer too many, in the same packet or later: nobody's, and least of all the next command's.
TEST(BadServer, ThatAnswersMoreThanItWasAsked) {
    const fake_server server{always("+mine\r\n+of somebody else\r\n")};
    connection redis{endpoint::parse(server.url())};
    EXPECT_EQ(redis.exchange(request{"PING"}).text(), "mine");
    EXPECT_TRUE(redis.stale());
    client pool{server.url()};
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(pool.command("PING").text(), "mine");
}

TEST(BadServer, ThatFailsDuringTheHandshake) {
    const fake_server noise{garbage()};
    EXPECT_EQ(thrown_by([&] { return connection{endpoint::parse(noise.url() + "/1")}; }).code(), errc::protocol);
    const fake_server rude{closing(ending::close)};
    EXPECT_EQ(thrown_by([&] { return connection{endpoint::parse(rude.url() + "/1")}; }).code(), errc::connection_lost);
    const fake_server silent{never_answering()};
    EXPECT_TRUE(once_below(400ms, [&] {
        const stopwatch since_start;
        const auto failure =
            thrown_by([&] { return connection{endpoint::parse(silent.url() + "/1?connect_timeout=200ms")}; });
        const auto took = since_start.elapsed();
        EXPECT_EQ(failure.code(), errc::timeout);
        EXPECT_THAT(failure.text(), HasSubstr("SELECT on redis://"));
        return took;
    }));
}

}  // namespace
}  // namespace tranca::testing
