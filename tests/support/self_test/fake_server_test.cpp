// The kit's scripted server and the listener that never answers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>

#include "support/deadline.hpp"
#include "support/deaf_listener.hpp"
#include "support/fake_server.hpp"
#include "support/raw_client.hpp"
#include "support/socket.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

raw_client visit(const fake_server& server, std::chrono::milliseconds timeout = 2s) {
    return raw_client{server.where(), {.timeout = timeout, .name = ""}};
}

TEST(FakeServer, AnswersAsToldForEachCommand) {
    fake_server server{
        [](const seen_command& command) { return fake_answer{.bytes = "+" + command.arguments.at(0) + "\r\n"}; }};
    auto client = visit(server);
    EXPECT_EQ(client.command({"ONE", "x"}), "ONE");
    server.answer_with(always(":2\r\n"));
    EXPECT_EQ(client.command({"TWO"}), 2);
    EXPECT_EQ(server.commands().at(0).text(), "ONE x");
    EXPECT_EQ(server.commands("TWO"), 1u);
    EXPECT_EQ(server.connections_seen(), 1u);
    EXPECT_EQ(server.connections_open(), 1u);
}

TEST(FakeServer, GivesCannedAnswersInTurn) {
    const fake_server server{{":1\r\n", ":2\r\n"}};
    auto client = visit(server);
    EXPECT_EQ(client.command({"A"}), 1);
    EXPECT_EQ(client.command({"A"}), 2);
    EXPECT_EQ(client.command({"A"}), 2);
}

TEST(FakeServer, TakesItsTime) {
    const fake_server server{[](const seen_command&) { return fake_answer{.bytes = "+OK\r\n", .after = 60ms}; }};
    auto client = visit(server);
    const stopwatch watch;
    client.command({"A"});
    EXPECT_GE(watch.elapsed(), 60ms);
}

TEST(FakeServer, AnswersWithErrors) {
    const fake_server server{after_handshake(always_error("NOSCRIPT No matching script."))};
    auto client = visit(server);
    EXPECT_EQ(client.command({"CLIENT", "SETNAME", "x"}), "OK");
    EXPECT_EQ(client.command({"PING"}), "PONG");
    EXPECT_TRUE(client.command({"EVALSHA", "x", "0"}).is_error("NOSCRIPT"));
}

TEST(FakeServer, NeverAnswers) {
    const fake_server server{never_answering()};
    auto client = visit(server, 300ms);
    EXPECT_THROW(client.command({"PING"}), raw_error);
}

TEST(FakeServer, AnswersNonsense) {
    for (const auto& answer : {garbage(), truncated_reply(), truncated_reply(ending::reset), closing(ending::close),
                               closing(ending::reset), bulk_header("-7")}) {
        const fake_server server{answer};
        auto client = visit(server, 300ms);
        EXPECT_THROW(client.command({"PING"}), raw_error);
    }
}

TEST(FakeServer, AnswersAtLength) {
    const fake_server many{huge_array(100'000)};
    EXPECT_EQ(visit(many).command({"A"}).size(), 100'000u);
    const fake_server large{huge_bulk(5'000'000)};
    EXPECT_EQ(visit(large, 10s).command({"A"}).text.size(), 5'000'000u);
    const fake_server nested{nested_arrays(3)};
    EXPECT_EQ(visit(nested).command({"A"})[0][0][0], 1);
}

TEST(FakeServer, ClosesAfterAccept) {
    for (const auto how : {ending::close, ending::reset}) {
        const auto server = fake_server::closing_after_accept(how);
        EXPECT_THROW(visit(*server).command({"PING"}), raw_error);  // connect() may see it already
    }
}

TEST(FakeServer, SpeaksFirst) {
    const auto server =
        fake_server::greeting({.bytes = "-ERR max number of clients reached\r\n", .then = ending::close});
    auto client = visit(*server);
    EXPECT_TRUE(eventually(2s, [&] { return server->connections_seen() == 1; }));
    EXPECT_TRUE(client.receive().is_error("ERR"));
}

TEST(FakeServer, ServesUnixSockets) {
    const fake_server server{always("+OK\r\n"), transport::unix_socket};
    EXPECT_EQ(visit(server).command({"A"}), "OK");
}

TEST(DeafListener, LetsConnectHang) {
    const deaf_listener nobody;
    const stopwatch watch;
    EXPECT_THROW((raw_client{nobody.where(), {.timeout = 60ms}}), raw_error);
    EXPECT_GE(watch.elapsed(), 55ms);
}

}  // namespace
}  // namespace tranca::testing
