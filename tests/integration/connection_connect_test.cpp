// Getting through to a server, or not, in time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/connection.hpp>

#include "integration/descriptors.hpp"
#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/deaf_listener.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/signal_storm.hpp"
#include "support/socket.hpp"
#include "support/temporary_directory.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using ConnectionConnect = redis_fixture;

void expect_failure(const std::string& url, milliseconds least, milliseconds most) {
    EXPECT_TRUE(once_below(most, [&] {
        const stopwatch since_start;
        const auto failure = thrown_by([&] { return connection{endpoint::parse(url)}; });
        const auto took = since_start.elapsed();
        EXPECT_EQ(failure.code(), errc::connect_failed) << failure.what();
        EXPECT_FALSE(failure.in_doubt());
        EXPECT_THAT(failure.text(), HasSubstr("connecting to " + endpoint::parse(url).printable()));
        EXPECT_GE(took, least) << url;
        return took;
    })) << url;
}

TEST_F(ConnectionConnect, WorksOverTcp) {
    EXPECT_EQ(connection{endpoint::parse(server.url())}.command(request{"PING"}).text(), "PONG");
    const auto by_name = "redis://localhost:" + std::to_string(server.port());
    EXPECT_EQ(connection{endpoint::parse(by_name)}.command(request{"PING"}).text(), "PONG");
}

TEST_F(ConnectionConnect, WorksOverIpv6) {
    if (!server.has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
    EXPECT_EQ(connection{endpoint::parse(server.ipv6_url())}.command(request{"PING"}).text(), "PONG");
}

TEST_F(ConnectionConnect, WorksOverAUnixSocket) {
    connection redis{endpoint::parse(server.unix_url(5) + "&client_name=by-path")};
    EXPECT_EQ(redis.command(request{"CLIENT", "GETNAME"}).text(), "by-path");
    redis.command(request{"SET", "a", "1"});
    raw.must({"SELECT", "5"});
    EXPECT_EQ(raw.get("a"), "1");
}

TEST_F(ConnectionConnect, FailsAtOnceWhereNobodyListens) {
    expect_failure(address::tcp(free_port()).url(), 0ms, 500ms);
    expect_failure("unix:///nowhere/redis.sock", 0ms, 100ms);
    const temporary_directory home;
    expect_failure("unix://" + home.path().native(), 0ms, 100ms);
}

TEST_F(ConnectionConnect, FailsForANameThatIsNone) { expect_failure("redis://no-such-host.invalid", 0ms, 30s); }

TEST_F(ConnectionConnect, EndsInTimeWhereNobodyAnswers) {
    const deaf_listener nobody;
    expect_failure(nobody.url() + "?connect_timeout=200ms", 200ms, 300ms);
    expect_failure(nobody.url() + "?connect_timeout=1ms", 1ms, 100ms);
}

TEST_F(ConnectionConnect, EndsInTimeWhereAUnixSocketIsCrowded) {
    const temporary_directory home;
    const auto where = address::unix_socket(home / "crowded.sock");
    const auto listener = listen_on(where, 0);
    std::vector<unique_fd> crowd;
    crowd.push_back(connect_to(where));
    expect_failure(where.url() + "?connect_timeout=200ms", 200ms, 300ms);
    expect_failure(where.url() + "?connect_timeout=1ms", 1ms, 100ms);
}

TEST_F(ConnectionConnect, WaitsItsTurnWhereAUnixSocketIsCrowded) {
    const temporary_directory home;
    const auto where = address::unix_socket(home / "crowded.sock");
    const auto listener = listen_on(where, 0);
    const auto ahead = connect_to(where);
    const stopwatch since_start;
    auto server_at_work = std::async(std::launch::async, [&] {
        std::this_thread::sleep_for(100ms);  // as long as the queue stays full
        return unique_fd{::accept(listener.get(), nullptr, nullptr)};
    });
    const signal_storm interruptions;
    const connection late{endpoint::parse(where.url() + "?connect_timeout=10s")};
    EXPECT_TRUE(late.usable());
    EXPECT_GE(since_start.elapsed(), 100ms);
}

TEST_F(ConnectionConnect, WaitsForAFrozenServersHandshakeNoLongerThanTheConnectLimit) {
    const auto where = endpoint::parse(server.url(5) + "?connect_timeout=200ms&command_timeout=5s");
    const fault ice = frozen(server);
    EXPECT_TRUE(once_below(300ms, [&] {
        const stopwatch since_start;
        const auto failure = thrown_by([&] { return connection{where}; });
        const auto took = since_start.elapsed();
        EXPECT_EQ(failure.code(), errc::timeout);
        EXPECT_GE(took, 200ms);
        return took;
    }));
}

TEST_F(ConnectionConnect, LeavesNoDescriptorBehindWhenItFails) {
    const deaf_listener nobody;
    const fault secured = password_required(server, "x");
    const auto wrong = "redis://:wrong@" + server.tcp().text();
    const auto before = open_sockets();
    for (int i = 0; i < 20; ++i) {
        expect_failure(nobody.url() + "?connect_timeout=1ms", 0ms, 200ms);
        expect_failure(address::tcp(1).url(), 0ms, 500ms);
        expect_failure("unix:///nowhere/redis.sock", 0ms, 100ms);
        EXPECT_EQ(thrown_by([&] { return connection{endpoint::parse(wrong)}; }).code(), errc::authentication);
    }
    EXPECT_EQ(open_sockets(), before);
}

TEST_F(ConnectionConnect, FailsWithTheReasonWhenDescriptorsRunOutAndWorksAgainAfterwards) {
    child_process hungry{[&] {
        const rlimit few{.rlim_cur = 64, .rlim_max = 64};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
        client redis{server.url()};
        std::vector<unique_fd> eaten;
        for (int fd = ::dup(0); fd >= 0; fd = ::dup(0))
            eaten.emplace_back(fd);
        for (int i = 0; i < 3; ++i) {
            const auto failure = thrown_by([&] { return redis.command("PING"); });
            EXPECT_EQ(failure.code(), errc::connect_failed);
            EXPECT_THAT(failure.text(), HasSubstr("Too many open files"));
        }
        eaten.clear();
        EXPECT_EQ(redis.command("PING").text(), "PONG");
    }};
    EXPECT_EQ(hungry.wait(10s), exited(0));
}

// Another program started by this process must not keep the connection alive.
TEST_F(ConnectionConnect, IsNotPassedOnToOtherPrograms) {
    std::set<int> before;
    for (int fd = 0; fd < 1'024; ++fd)
        if (::fcntl(fd, F_GETFD) >= 0) before.insert(fd);
    const connection over_tcp{endpoint::parse(server.url())};
    const connection over_unix{endpoint::parse(server.unix_url())};
    int made = 0;
    for (int fd = 0; fd < 1'024; ++fd) {
        const int flags = ::fcntl(fd, F_GETFD);
        if (flags < 0 || before.contains(fd)) continue;
        EXPECT_NE(flags & FD_CLOEXEC, 0);
        ++made;
    }
    EXPECT_EQ(made, 2);
}

TEST_F(ConnectionConnect, ClosesItsDescriptorAtItsEnd) {
    const auto before = open_sockets();
    {
        connection first{endpoint::parse(server.url())};
        connection second{endpoint::parse(server.url())};
        EXPECT_EQ(open_sockets(), before + 2);
        first = std::move(second);
        EXPECT_EQ(open_sockets(), before + 1);
        EXPECT_EQ(first.command(request{"PING"}).text(), "PONG");
    }
    EXPECT_EQ(open_sockets(), before);
}

TEST_F(ConnectionConnect, IsOverForAConnectionMovedFrom) {
    connection first{endpoint::parse(server.url())};
    const connection second = std::move(first);
    EXPECT_TRUE(second.usable());
    EXPECT_FALSE(first.usable());  // NOLINT: that is the question
    EXPECT_TRUE(first.stale());
    EXPECT_EQ(thrown_by([&] { return first.exchange(request{"PING"}); }).code(), errc::connection_lost);
    EXPECT_EQ(thrown_by([&] { return first.receive(); }).code(), errc::connection_lost);
}

TEST_F(ConnectionConnect, IsOverForAConnectionRetired) {
    connection redis{endpoint::parse(server.url())};
    redis.retire();
    EXPECT_FALSE(redis.usable());
    EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}); }).code(), errc::connection_lost);
}

}  // namespace
}  // namespace tranca::testing
