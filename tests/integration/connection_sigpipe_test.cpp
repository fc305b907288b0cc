// Writing to a connection that the server has closed is an error, never a SIGPIPE (case H02).
#include <gmock/gmock.h>
#include <signal.h>

#include <atomic>
#include <string>

#include <tranca/client.hpp>
#include <tranca/connection.hpp>

#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/tls_certificates.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

using ConnectionSigpipe = redis_fixture;

bool pipe_signal_is(void (*action)(int)) {
    struct sigaction now {};
    ::sigaction(SIGPIPE, nullptr, &now);
    return now.sa_handler == action;
}

bool pipe_signal_is_blocked_or_pending() {
    sigset_t blocked;
    sigset_t pending;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    ::sigpending(&pending);
    return ::sigismember(&blocked, SIGPIPE) == 1 || ::sigismember(&pending, SIGPIPE) == 1;
}

// The first write to a closed TCP connection draws a reset, the second one the signal.
void write_to_closed(redis_server& server, const std::string& url) {
    const std::string large(std::size_t{8} << 20U, 'x');
    for (int i = 0; i < 10; ++i) {
        connection redis{endpoint::parse(url + (url.find('?') == url.npos ? "?" : "&") + "client_name=victim")};
        kill_connections(server, "victim");
        EXPECT_TRUE(eventually(2s, [&] { return redis.stale(); }));
        const auto failure = thrown_by([&] {
            redis.send(request{"PING"});
            redis.send(request{"SET", "k", large});
            redis.send(request{"SET", "k", large});
        });
        EXPECT_EQ(failure.code(), errc::connection_lost);
        EXPECT_FALSE(redis.usable());
    }
}

void in_a_process_with_the_default_action(redis_server& server, const std::string& url) {
    ::signal(SIGPIPE, SIG_DFL);
    write_to_closed(server, url);
    EXPECT_TRUE(pipe_signal_is(SIG_DFL));
    EXPECT_FALSE(pipe_signal_is_blocked_or_pending());
}

TEST_F(ConnectionSigpipe, DoesNotEndTheProcessOverTcp) {
    child_process writer{[&] { in_a_process_with_the_default_action(server, server.url()); }};
    EXPECT_EQ(writer.wait(20s), exited(0));
}

TEST_F(ConnectionSigpipe, DoesNotEndTheProcessOverAUnixSocket) {
    child_process writer{[&] { in_a_process_with_the_default_action(server, server.unix_url()); }};
    EXPECT_EQ(writer.wait(20s), exited(0));
}

TEST_F(ConnectionSigpipe, DoesNotEndAProcessWhoseClientMeetsIt) {
    child_process writer{[&] {
        ::signal(SIGPIPE, SIG_DFL);
        client redis{server.unix_url() + "?client_name=victim"};
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(redis.command("PING").text(), "PONG");
            kill_connections(server, "victim");
        }
        EXPECT_TRUE(pipe_signal_is(SIG_DFL));
    }};
    EXPECT_EQ(writer.wait(20s), exited(0));
}

std::atomic<int> pipe_signals_seen{0};

TEST_F(ConnectionSigpipe, LeavesTheHandlerOfTheProcessAlone) {
    child_process writer{[&] {
        void (*const handler)(int) = [](int) { pipe_signals_seen.fetch_add(1); };
        ::signal(SIGPIPE, handler);
        write_to_closed(server, server.url());
        write_to_closed(server, server.unix_url());
        EXPECT_TRUE(pipe_signal_is(handler));
        EXPECT_EQ(pipe_signals_seen.load(), 0) << "it was disturbed by what is not its business";
        ::raise(SIGPIPE);
        EXPECT_EQ(pipe_signals_seen.load(), 1);
    }};
    EXPECT_EQ(writer.wait(20s), exited(0));
}

#ifdef TRANCA_WITH_TLS

TEST(TlsSigpipe, DoesNotEndTheProcess) {
    const tls_certificates certificates;
    redis_server server{{.tls = &certificates}};
    child_process writer{[&] {
        const auto url = server.tls_url() + "?ca_file=" + certificates.ca().native();
        in_a_process_with_the_default_action(server, url);
    }};
    EXPECT_EQ(writer.wait(60s), exited(0));
}

// A SIGPIPE that was pending before, of somebody else's making, is still pending afterwards.
TEST(TlsSigpipe, LeavesAPendingSignalAlone) {
    const tls_certificates certificates;
    redis_server server{{.tls = &certificates}};
    child_process writer{[&] {
        sigset_t pipe;
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        ::raise(SIGPIPE);
        write_to_closed(server, server.tls_url() + "?ca_file=" + certificates.ca().native());
        sigset_t pending;
        ::sigpending(&pending);
        EXPECT_EQ(::sigismember(&pending, SIGPIPE), 1);
    }};
    EXPECT_EQ(writer.wait(60s), exited(0));
}

#endif

}  // namespace
}  // namespace tranca::testing
