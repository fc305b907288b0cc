// The kit's gate: every fault of the network has the effect it promises.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <thread>

#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"
#include "support/tcp_gate.hpp"
#include "support/tls_certificates.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class TcpGate : public redis_fixture {
protected:
    raw_client through(std::chrono::milliseconds timeout = 10s) {
        return raw_client{gate.where(), {.timeout = timeout, .name = ""}};
    }

    tcp_gate gate{server.tcp()};
};

// What a failed command said.
std::string failure(raw_client& client, const command_text& words) {
    try {
        std::ostringstream text;
        text << "no failure: " << client.command(words);
        return text.str();
    } catch (const raw_error& error) {
        return error.what();
    }
}

TEST_F(TcpGate, PassesAndCounts) {
    auto client = through();
    EXPECT_EQ(client.command({"SET", "k", "v"}), "OK");
    EXPECT_EQ(client.command({"GET", "k"}), "v");
    EXPECT_EQ(gate.connections_seen(), 1u);
    EXPECT_EQ(gate.connections_open(), 1u);
    EXPECT_EQ(gate.commands("set|get"), 2u);
    EXPECT_EQ(gate.commands().at(0).text(), "SET k v");
    EXPECT_EQ(gate.commands(text_like("^GET k$")), 1u);
    EXPECT_TRUE(gate.wait_for_command(1s, "GET"));
    gate.forget_commands();
    EXPECT_EQ(gate.commands().size(), 0u);
}

TEST_F(TcpGate, PassesLargeMessages) {
    auto client = through();
    const std::string large(3'000'000, 'x');
    client.set("k", large);
    EXPECT_EQ(client.get("k"), large);
}

TEST_F(TcpGate, PassesThroughUnixSockets) {
    const tcp_gate local{server.unix_socket(), transport::unix_socket};
    EXPECT_THAT(local.url(), ::testing::StartsWith("unix:///"));
    EXPECT_EQ(raw_client{local.where()}.command({"PING"}), "PONG");
}

TEST_F(TcpGate, PassesTheEndOfAConnection) {
    { auto client = through(); }
    EXPECT_TRUE(eventually(2s, [&] { return gate.connections_open() == 0; }));
    auto client = through();
    server.must({"CLIENT", "KILL", "ID", std::to_string(client.id())});
    EXPECT_TRUE(eventually(2s, [&] { return gate.connections_open() == 0; }));
}

TEST_F(TcpGate, DelaysReplies) {
    auto client = through();
    gate.delay_replies(400ms);
    const stopwatch watch;
    client.send({"SET", "k", "v"});
    EXPECT_TRUE(eventually(390ms, [&] { return raw.exists("k") == 1; }));  // the server ran it at once
    client.receive();
    EXPECT_GE(watch.elapsed(), 400ms);
}

TEST_F(TcpGate, DelaysRequestsThatMatch) {
    auto client = through();
    gate.delay_requests(400ms, "SET");
    const stopwatch watch;
    client.command({"GET", "k"});
    EXPECT_LT(watch.elapsed(), 400ms);
    client.command({"SET", "k", "v"});
    EXPECT_GE(watch.elapsed(), 400ms);
    gate.pass();
    const stopwatch again;
    client.command({"SET", "k", "v"});
    EXPECT_LT(again.elapsed(), 400ms);
}

TEST_F(TcpGate, NeverReordersDelayedReplies) {
    auto client = through();
    gate.delay_replies({0ms, 5ms});
    for (int i = 0; i < 50; ++i) {
        client.send({"ECHO", std::to_string(i)});
    }
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(client.receive(), std::to_string(i));
    }
}

TEST_F(TcpGate, BlackHolesTheWayToTheServer) {
    auto client = through(300ms);
    gate.black_hole(direction::to_server);
    EXPECT_NE(failure(client, {"SET", "k", "v"}), "");
    EXPECT_EQ(raw.exists("k"), 0);
    gate.pass();
    EXPECT_TRUE(eventually(2s, [&] { return raw.exists("k") == 1; }));  // late, as after a partition
}

TEST_F(TcpGate, BlackHolesTheWayToOneClient) {
    auto first = through(300ms);
    auto second = through();
    first.command({"PING"});
    second.command({"PING"});
    gate.black_hole(direction::to_client, 1);
    EXPECT_THAT(failure(first, {"SET", "k", "v"}), HasSubstr("reply of"));
    EXPECT_EQ(raw.exists("k"), 1);
    EXPECT_EQ(second.command({"PING"}), "PONG");
}

TEST_F(TcpGate, BlackHolesThoseFromOneAddress) {
    auto client = through(300ms);
    gate.black_hole_from("127.0.0.2");
    EXPECT_EQ(client.command({"PING"}), "PONG");
    gate.black_hole_from("127.0.0.1");
    EXPECT_NE(failure(client, {"SET", "k", "v"}), "");
    EXPECT_EQ(raw.exists("k"), 0);
    gate.pass();
    EXPECT_TRUE(eventually(2s, [&] { return raw.exists("k") == 1; }));
}

TEST_F(TcpGate, CutsByReset) {
    auto client = through();
    client.command({"PING"});
    gate.hold_reply("GET");
    client.send({"GET", "k"});
    EXPECT_TRUE(gate.wait_until_held(2s));
    gate.cut();
    try {
        client.receive();
        ADD_FAILURE() << "a reply arrived";
    } catch (const raw_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("reset"));
    }
    EXPECT_EQ(gate.connections_open(), 0u);
    EXPECT_EQ(through().command({"PING"}), "PONG");
}

TEST_F(TcpGate, CutsEvenWhereAChildHoldsTheDescriptor) {
    auto client = through();
    client.command({"PING"});
    child_process copy{[] { ::pause(); }};
    gate.cut();
    char byte = 0;
    const unique_fd idle = connect_to(gate.where());
    EXPECT_TRUE(eventually(2s, [&] { return gate.connections_open() == 1; }));
    gate.cut();
    EXPECT_TRUE(eventually(2s, [&] { return ::recv(idle.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == ECONNRESET; }));
    gate.refuse_connections();
    EXPECT_THROW(connect_to(gate.where()), std::system_error);
}

TEST_F(TcpGate, CutsAReplyAfterSomeBytes) {
    auto client = through();
    client.set("k", "0123456789");
    gate.cut_after(6, direction::to_client, ending::close);
    const unique_fd link = connect_to(gate.where());
    send_all(link, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    std::string text(100, '\0');
    std::size_t size = 0;
    while (const ssize_t got = ::recv(link.get(), text.data() + size, text.size() - size, 0)) {
        ASSERT_GT(got, 0);
        size += static_cast<std::size_t>(got);
    }
    EXPECT_EQ(text.substr(0, size), "$10\r\n0");
    EXPECT_EQ(client.command({"PING"}), "PONG");  // one shot
}

TEST_F(TcpGate, CutsARequestAfterSomeBytes) {
    auto client = through();
    gate.cut_after(10, direction::to_server);
    EXPECT_NE(failure(client, {"SET", "k", "v"}), "");
    EXPECT_EQ(raw.exists("k"), 0);
    EXPECT_EQ(gate.connections_open(), 0u);
}

TEST_F(TcpGate, SwallowsOneReplyAndResets) {
    auto client = through();
    client.command({"PING"});
    gate.swallow_reply("SET");
    EXPECT_EQ(client.command({"GET", "k"}), nullptr);
    EXPECT_THAT(failure(client, {"SET", "k", "v"}), HasSubstr("reset"));
    EXPECT_TRUE(gate.wait_until_swallowed(1s));
    EXPECT_EQ(raw.get("k"), "v");  // it took effect
    EXPECT_EQ(client.command({"SET", "k", "w"}), "OK");
}

TEST_F(TcpGate, SwallowsOneReplyAndKeepsOpen) {
    auto client = through(300ms);
    client.command({"PING"});
    gate.swallow_reply(nth(2, "INCR"), ending::keep_open);
    EXPECT_EQ(client.command({"INCR", "n"}), 1);
    client.send({"INCR", "n"});
    client.send({"ECHO", "next"});
    EXPECT_EQ(client.receive(), "next");  // the shifted reply that a client must never take
    EXPECT_EQ(raw.get("n"), "2");
}

TEST_F(TcpGate, HoldsOneRequest) {
    auto client = through();
    auto other = through();
    gate.hold("PEXPIRE");
    EXPECT_FALSE(gate.wait_until_held(1ms));
    client.command({"SET", "k", "v"});
    client.send({"PEXPIRE", "k", "10000"});
    client.send({"GET", "k"});
    ASSERT_TRUE(gate.wait_until_held(2s));
    EXPECT_EQ(raw.pttl("k"), -1);
    EXPECT_EQ(other.command({"PEXPIRE", "other", "1"}), 0);  // only the first one is held
    gate.let_go();
    EXPECT_EQ(client.receive(), 1);
    EXPECT_EQ(client.receive(), "v");
}

TEST_F(TcpGate, DeliversAHeldRequestOfADeadClient) {
    auto client = std::make_unique<raw_client>(through());
    gate.hold("EXPIRE");
    client->command({"SET", "k", "v"});
    client->send({"EXPIRE", "k", "100"});
    ASSERT_TRUE(gate.wait_until_held(2s));
    client.reset();
    EXPECT_TRUE(throughout(20ms, [&] { return raw.pttl("k") == -1; }));
    gate.let_go();
    EXPECT_TRUE(eventually(2s, [&] { return raw.pttl("k") > 0; }));
    EXPECT_TRUE(eventually(2s, [&] { return gate.connections_open() == 0; }));
}

TEST_F(TcpGate, CutsWhatItHolds) {
    auto client = through();
    const auto hold = gate.hold(on_connection(1, "SET"));
    client.send({"SET", "k", "v"});
    ASSERT_TRUE(gate.wait_until_held(2s, hold));
    gate.cut_held(hold);
    EXPECT_THROW(client.receive(), raw_error);
    EXPECT_EQ(raw.exists("k"), 0);
}

TEST_F(TcpGate, HoldsTheNthOfAnyConnection) {
    auto first = through();
    auto second = through();
    const auto hold = gate.hold(nth(2, "INCR"));
    EXPECT_EQ(first.command({"INCR", "n"}), 1);
    second.send({"INCR", "n"});
    ASSERT_TRUE(gate.wait_until_held(2s, hold));
    EXPECT_EQ(first.command({"INCR", "n"}), 2);
    gate.let_go(hold);
    EXPECT_EQ(second.receive(), 3);
}

TEST_F(TcpGate, HoldsAReply) {
    auto client = through();
    gate.hold_reply("SET");
    client.send({"SET", "k", "v"});
    ASSERT_TRUE(gate.wait_until_held(2s));
    EXPECT_EQ(raw.get("k"), "v");
    gate.let_go();
    EXPECT_EQ(client.receive(), "OK");
}

TEST_F(TcpGate, FragmentsReplies) {
    raw.set("k", "0123456789");
    gate.fragment_replies(1, 10ms);
    const unique_fd link = connect_to(gate.where());
    send_all(link, "GET k\r\n");
    std::size_t reads = 0;
    for (std::string text; text.size() < 17;) {
        char buffer[100];
        const ssize_t got = ::recv(link.get(), buffer, sizeof buffer, 0);
        ASSERT_GT(got, 0);
        text.append(buffer, static_cast<std::size_t>(got));
        ++reads;
    }
    EXPECT_GT(reads, 5u);
}

TEST_F(TcpGate, ThrottlesRequestsSoThatTheyAreWrittenPartially) {
    gate.throttle_requests(100'000, 1ms);
    unique_fd link = connect_to(gate.where());
    EXPECT_TRUE(eventually(2s, [&] { return gate.connections_open() == 1; }));
    const int small = 10'000;
    ::setsockopt(link.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    const std::string large(4'000'000, 'x');
    const ssize_t sent = ::send(link.get(), large.data(), large.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    EXPECT_LT(sent, static_cast<ssize_t>(large.size()));
    auto client = through();
    client.set("k", large);
    EXPECT_EQ(raw.get("k"), large);
}

TEST_F(TcpGate, RefusesAndAcceptsConnections) {
    auto client = through();
    gate.refuse_connections();
    EXPECT_THROW(through(), raw_error);
    EXPECT_EQ(client.command({"PING"}), "PONG");  // those that are open stay
    gate.accept_connections();
    EXPECT_EQ(through().command({"PING"}), "PONG");
}

TEST_F(TcpGate, RedirectsNewConnections) {
    redis_server other;
    other.raw().set("here", "1");
    auto old = through();
    old.command({"PING"});
    gate.redirect(other.tcp());
    EXPECT_EQ(through().exists("here"), 1);
    EXPECT_EQ(old.exists("here"), 0);
}

TEST_F(TcpGate, RefusesWhenTheServerIsGone) {
    redis_server dying;
    const tcp_gate before{dying.tcp()};
    auto client = raw_client{before.where()};
    client.command({"PING"});
    dying.kill_hard();
    EXPECT_TRUE(eventually(2s, [&] { return before.connections_open() == 0; }));
    EXPECT_THROW(client.command({"PING"}), raw_error);
}

TEST_F(TcpGate, PassesTls) {
    const tls_certificates certificates;
    const redis_server secure{{.tls = &certificates}};
    const tcp_gate before{secure.tls()};
    auto client = process::start({"openssl", "s_client", "-connect", before.where().text(), "-verify_return_error",
                                  "-CAfile", certificates.ca()},
                                 {.output = secure.directory() / "s_client.log"});
    EXPECT_EQ(client.wait(10s), exited(0));
    EXPECT_THAT(before.tls_url(), ::testing::StartsWith("rediss://127.0.0.1:"));
}

TEST_F(TcpGate, IsSafeToUseFromManyThreads) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            auto client = through();
            for (int n = 0; n < 200; ++n) {
                client.must({"INCR", "n"});
            }
        });
    }
    for (int i = 0; i < 50; ++i) {
        gate.delay_replies({0ms, 1ms}), gate.pass();
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(raw.get("n"), "800");
    EXPECT_EQ(gate.commands("INCR"), 800u);
}

}  // namespace
}  // namespace tranca::testing
