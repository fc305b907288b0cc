// TLS against a real server, with certificates made on the spot.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <filesystem>
#include <string>
#include <thread>

#include <tranca/client.hpp>
#include <tranca/connection.hpp>

#include "integration/descriptors.hpp"
#include "support/deadline.hpp"
#include "support/fake_server.hpp"
#include "support/faults.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/signal_storm.hpp"
#include "support/socket.hpp"
#include "support/tcp_gate.hpp"
#include "support/temporary_directory.hpp"
#include "support/tls_certificates.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const tls_certificates& certificates() {
    static const tls_certificates made;
    return made;
}

class Tls : public ::testing::Test {
protected:
    redis_server server{{.tls = &certificates()}};
    const std::string trusting = "?ca_file=" + certificates().ca().native();

    [[nodiscard]] error refusal(const std::string& url) {
        const auto failure = thrown_by([&] { return connection{endpoint::parse(url)}; });
        EXPECT_EQ(failure.code(), errc::tls_failed) << failure.what();
        EXPECT_FALSE(failure.in_doubt());
        EXPECT_THAT(failure.text(), HasSubstr("starting TLS with rediss://"));
        return failure;
    }
};

TEST_F(Tls, WorksWithATrustedAuthority) {
    connection redis{endpoint::parse(server.tls_url() + trusting)};
    EXPECT_EQ(redis.command(request{"PING"}).text(), "PONG");
    EXPECT_TRUE(redis.usable());
    EXPECT_FALSE(redis.stale());
}

TEST_F(Tls, WorksByNameAndByAddress) {
    const auto by_name = "rediss://localhost:" + std::to_string(server.tls().port) + trusting;
    EXPECT_EQ(connection{endpoint::parse(by_name)}.command(request{"PING"}).text(), "PONG");
    EXPECT_EQ(connection{endpoint::parse(server.tls_url() + trusting)}.command(request{"PING"}).text(), "PONG");
}

TEST_F(Tls, DoesTheHandshakeOfRedisInside) {
    server.must({"ACL", "SETUSER", "worker", "on", ">p@ss", "~*", "+@all"});
    const auto url = "rediss://worker:p%40ss@" + server.tls().text() + "/5" + trusting + "&client_name=over-tls";
    connection redis{endpoint::parse(url)};
    EXPECT_EQ(redis.command(request{"ACL", "WHOAMI"}).text(), "worker");
    EXPECT_EQ(redis.command(request{"CLIENT", "GETNAME"}).text(), "over-tls");
    redis.command(request{"SET", "a", "1"});
    EXPECT_THAT(server.must({"INFO", "KEYSPACE"}).text, HasSubstr("db5:keys=1"));
}

TEST_F(Tls, TakesADirectoryOfAuthorities) {
    const temporary_directory home;
    std::filesystem::copy(certificates().ca(), home / "ca.pem");
    auto rehash = process::start({"openssl", "rehash", home.path().native()}, {.output = home / "log"});
    ASSERT_EQ(rehash.wait(10s), (exit_status{}));
    const auto url = server.tls_url() + "?ca_directory=" + home.path().native();
    EXPECT_EQ(connection{endpoint::parse(url)}.command(request{"PING"}).text(), "PONG");
}

TEST_F(Tls, RefusesAnAuthorityThatSignedNothing) {
    const auto failure = refusal(server.tls_url() + "?ca_file=" + certificates().unrelated_ca().native());
    EXPECT_THAT(failure.text(), HasSubstr("certificate"));
}

TEST_F(Tls, TrustsNobodyByDefault) {
    const auto failure = refusal(server.tls_url());
    EXPECT_THAT(failure.text(), HasSubstr("certificate"));
}

TEST_F(Tls, RefusesACertificateForAnotherName) {
    const auto failure = refusal(server.tls_url() + trusting + "&server_name=redis.example.com");
    EXPECT_THAT(failure.text(), HasSubstr("mismatch"));
    for (const auto* name : {"127.0.0.2", "localhos", "localhost.example.com", "::1"})
        EXPECT_THAT(refusal(server.tls_url() + trusting + "&server_name=" + name).text(), HasSubstr("mismatch"));
}

TEST_F(Tls, ChecksTheNameItIsToldTo) {
    const auto url = server.tls_url() + trusting + "&server_name=localhost";
    EXPECT_EQ(connection{endpoint::parse(url)}.command(request{"PING"}).text(), "PONG");
}

// The first thing a client says, in the clear: among others, whom it wants to talk to (SNI).
std::string client_hello(const std::string& host, const std::string& query) {
    const auto where = address::tcp(free_port());
    const auto listener = listen_on(where);
    const std::jthread caller{[&] {
        const auto url = "rediss://" + host + ":" + std::to_string(where.port) + "?connect_timeout=2s" + query;
        EXPECT_EQ(thrown_by([&] { return connection{endpoint::parse(url)}; }).code(), errc::tls_failed);
    }};
    unique_fd guest;
    EXPECT_TRUE(eventually(2s, [&] {
        guest = accept_from(listener);
        return static_cast<bool>(guest);
    }));
    std::string hello(4'096, '\0');
    const auto size = ::recv(guest.get(), hello.data(), hello.size(), 0);
    hello.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return hello;
}

TEST(TlsHello, NamesTheServer) {
    EXPECT_THAT(client_hello("localhost", "&verify=no"), HasSubstr("localhost"));
    EXPECT_THAT(client_hello("localhost", ""), HasSubstr("localhost"));
    EXPECT_THAT(client_hello("127.0.0.1", "&server_name=redis.internal"), HasSubstr("redis.internal"));
    EXPECT_THAT(client_hello("127.0.0.1", ""), Not(HasSubstr("127.0.0.1"))) << "an address is no name";
}

TEST_F(Tls, ChecksNothingWhenToldSo) {
    for (const auto* query : {"?verify=no", "?verify=no&server_name=redis.example.com"})
        EXPECT_EQ(connection{endpoint::parse(server.tls_url() + query)}.command(request{"PING"}).text(), "PONG");
}

TEST_F(Tls, NamesTheFileThatCannotBeRead) {
    EXPECT_THAT(refusal(server.tls_url() + "?ca_file=/nowhere/ca.pem").text(), HasSubstr("ca_file"));
    EXPECT_THAT(refusal(server.tls_url() + trusting + "&certificate=/nowhere/c.pem&private_key=/nowhere/k.pem").text(),
                HasSubstr("certificate"));
    const auto other_key = server.tls_url() + trusting +
                           "&certificate=" + certificates().client_certificate().native() +
                           "&private_key=" + certificates().server_key().native();
    EXPECT_THAT(refusal(other_key).text(), HasSubstr("private_key"));
}

TEST_F(Tls, ShowsItsCertificateWhereTheServerAsksForOne) {
    redis_server strict{{.tls = &certificates(), .tls_client_certificate = true}};
    const auto identified = strict.tls_url() + trusting +
                            "&certificate=" + certificates().client_certificate().native() +
                            "&private_key=" + certificates().client_key().native();
    EXPECT_EQ(connection{endpoint::parse(identified)}.command(request{"PING"}).text(), "PONG");
    // With TLS 1.3 the server says no after the client's part of the handshake is over.
    const auto failure =
        thrown_by([&] { return connection{endpoint::parse(strict.tls_url() + trusting)}.command(request{"PING"}); });
    EXPECT_THAT(failure.reason(), AnyOf(errc::tls_failed, errc::connection_lost)) << failure.what();
    EXPECT_THAT(failure.text(), ::testing::ContainsRegex("certificate|closed|reset|peer")) << failure.what();
}

TEST_F(Tls, OnAPlainPortFailsInTime) {
    const stopwatch since_start;
    static_cast<void>(refusal("rediss://" + server.tcp().text() + "?connect_timeout=500ms&verify=no"));
    EXPECT_LT(since_start.elapsed(), 1s);
}

TEST_F(Tls, OnAPeerThatIsNoneSaysWhy) {
    // At once, and when the handshake is under way.
    const auto reason = [&](const answering& answer, milliseconds after) {
        const fake_server peer{[&](const seen_command& command) {
            auto said = answer(command);
            said.after = after;
            return said;
        }};
        const auto text = refusal(peer.tls_url() + "?connect_timeout=300ms").text();
        EXPECT_THAT(text, Not(HasSubstr("unknown"))) << text;
        return text;
    };
    for (const auto after : {0ms, 50ms}) {
        EXPECT_THAT(reason(closing(ending::close), after), AnyOf(HasSubstr("closed"), HasSubstr("eof")));
        EXPECT_THAT(reason(closing(ending::reset), after), HasSubstr("reset"));
        EXPECT_THAT(reason(garbage(), after), HasSubstr("wrong version number"));
        EXPECT_THAT(reason(never_answering(), after), HasSubstr("no answer in time"));
    }
}

TEST_F(Tls, OnAPlainConnectionToATlsPortFailsInTime) {
    const stopwatch since_start;
    const auto failure = thrown_by([&] {
        return connection{endpoint::parse("redis://" + server.tls().text() + "?command_timeout=500ms")}.command(
            request{"PING"});
    });
    EXPECT_THAT(failure.reason(), AnyOf(errc::connection_lost, errc::protocol, errc::timeout)) << failure.what();
    EXPECT_LT(since_start.elapsed(), 1s);
}

TEST_F(Tls, WithAServerThatNeverAnswersFailsInTime) {
    const fault ice = frozen(server);
    EXPECT_TRUE(once_below(350ms, [&] {
        const stopwatch since_start;
        EXPECT_THAT(refusal(server.tls_url() + trusting + "&connect_timeout=200ms").text(),
                    HasSubstr("no answer in time"));
        const auto took = since_start.elapsed();
        EXPECT_GE(took, 200ms);
        return took;
    }));
}

// The limit is for the socket, TLS and the first commands together.
TEST_F(Tls, CountsTheHandshakesTogether) {
    tcp_gate gate{server.tls()};
    gate.delay_replies(150ms);
    const auto url = gate.tls_url() + "/5" + trusting + "&connect_timeout=250ms";
    EXPECT_TRUE(once_below(350ms, [&] {
        const stopwatch since_start;
        const auto failure = thrown_by([&] { return connection{endpoint::parse(url)}; });
        EXPECT_THAT(failure.reason(), AnyOf(errc::tls_failed, errc::timeout)) << failure.what();
        return since_start.elapsed();
    }));
}

TEST_F(Tls, TimeOutsPoisonTheConnection) {
    EXPECT_TRUE(once_below(250ms, [&] {
        connection redis{endpoint::parse(server.tls_url() + trusting + "&command_timeout=100ms")};
        steady::duration took{};
        {
            const fault ice = frozen(server);
            const stopwatch since_start;
            EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"ECHO", "late"}); }).code(), errc::timeout);
            took = since_start.elapsed();
            EXPECT_GE(took, 100ms);
        }
        EXPECT_FALSE(redis.usable());
        EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}); }).code(), errc::connection_lost);
        return took;
    }));
}

TEST_F(Tls, LostConnectionsSayWhy) {
    connection redis{endpoint::parse(server.tls_url() + trusting + "&client_name=victim")};
    kill_connections(server, "victim");
    const auto failure = thrown_by([&] { return redis.exchange(request{"GET", "a"}); });
    EXPECT_EQ(failure.code(), errc::connection_lost);
    EXPECT_THAT(failure.text(), ::testing::MatchesRegex("GET \"a\" on rediss://[0-9.:]+: .+"));
}

TEST_F(Tls, CarriesLargeArgumentsAndRepliesInPieces) {
    std::string large(std::size_t{6} << 20U, '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>(i * 131 + i / 65'537);
    tcp_gate gate{server.tls()};
    connection redis{endpoint::parse(gate.tls_url() + trusting + "&command_timeout=20s")};
    gate.throttle_requests(256U << 10U, 1ms);
    EXPECT_TRUE(redis.command(request{"SET", "large", large}).is_ok());
    EXPECT_TRUE(redis.command(request{"GET", "large"}).text() == large);
    gate.fragment_replies(3, 10us);
    EXPECT_EQ(redis.pipeline(request{"PING"}.add("ECHO", "x\0y"s).add("STRLEN", "large")).size(), 3U);
}

TEST_F(Tls, WorksUnderAThousandSignalsASecond) {
    const signal_storm storm;
    const deadline end{500ms};
    while (!end.expired()) {
        connection redis{endpoint::parse(server.tls_url() + trusting)};
        for (int i = 0; i < 20; ++i)
            ASSERT_EQ(redis.command(request{"ECHO", i}).text(), std::to_string(i));
    }
    EXPECT_GT(storm.count(), 200);
}

TEST_F(Tls, ConnectionsAreUsedAgainAndReplacedWhenKilled) {
    client redis{server.tls_url() + trusting};
    const auto first = redis.command("CLIENT", "ID").integer();
    EXPECT_EQ(redis.command("CLIENT", "ID").integer(), first);
    for (int i = 0; i < 5; ++i) {
        kill_connections(server);
        EXPECT_EQ(redis.command("PING").text(), "PONG");
    }
}

TEST_F(Tls, LeavesNoDescriptorBehind) {
    const auto before = open_sockets();
    for (int i = 0; i < 5; ++i) {
        connection{endpoint::parse(server.tls_url() + trusting)}.command(request{"PING"});
        static_cast<void>(refusal(server.tls_url()));
        static_cast<void>(refusal("rediss://" + server.tcp().text() + "?connect_timeout=50ms&verify=no"));
    }
    EXPECT_EQ(open_sockets(), before);
}

}  // namespace
}  // namespace tranca::testing
