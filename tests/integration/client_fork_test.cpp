// A child after fork(): new connections for it, nothing done to those of its parent.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/scripts.hpp>

#include "integration/descriptors.hpp"
#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/deaf_listener.hpp"
#include "support/process_barrier.hpp"
#include "support/redis_fixture.hpp"
#include "support/shared_memory.hpp"
#include "support/tls_certificates.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

using ClientFork = redis_fixture;

std::int64_t id_of(client& redis) { return redis.command("CLIENT", "ID").integer(); }

TEST_F(ClientFork, ChildUsesConnectionsOfItsOwn) {
    client redis{server.url()};
    const auto of_parent = id_of(redis);
    for (int i = 0; i < 3; ++i) {
        child_process child{[&] {
            const auto of_child = id_of(redis);
            EXPECT_NE(of_child, of_parent);
            EXPECT_EQ(id_of(redis), of_child);
            redis.command("INCR", "counter");
        }};
        EXPECT_EQ(child.wait(10s), exited(0));
        EXPECT_EQ(id_of(redis), of_parent);
    }
    EXPECT_EQ(raw.get("counter"), "3");
}

TEST_F(ClientFork, GrandchildrenToo) {
    client redis{server.url()};
    const auto of_parent = id_of(redis);
    child_process child{[&] {
        const auto of_child = id_of(redis);
        child_process grandchild{[&] {
            EXPECT_NE(id_of(redis), of_child);
            EXPECT_NE(id_of(redis), of_parent);
        }};
        EXPECT_EQ(grandchild.wait(5s), exited(0));
        EXPECT_EQ(id_of(redis), of_child);
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_EQ(id_of(redis), of_parent);
}

TEST_F(ClientFork, ParentAndChildrenTalkAtTheSameTime) {
    client redis{server.url()};
    redis.command("PING");
    const shared_memory<process_barrier> start{5U};
    const auto talk = [&](const std::string& who) {
        EXPECT_TRUE(start->wait(10s));
        for (int i = 0; i < 500; ++i)
            ASSERT_EQ(redis.command("ECHO", who + std::to_string(i)).text(), who + std::to_string(i));
    };
    std::vector<std::unique_ptr<child_process>> children;
    for (int number = 0; number < 4; ++number)
        children.push_back(
            std::make_unique<child_process>([&, number] { talk("child" + std::to_string(number) + ":"); }));
    talk("parent:");
    for (const auto& child : children)
        EXPECT_EQ(child->wait(20s), exited(0));
}

TEST_F(ClientFork, ParentsSocketsAreClosedInTheChildWithoutAByteSent) {
    client redis{server.url()};
    auto borrowed = redis.pool()->borrow();
    const auto id = borrowed->command(request{"CLIENT", "ID"}).integer();
    redis.command("PING");
    const auto before = open_sockets();
    child_process child{[&] { EXPECT_EQ(open_sockets(), before - 2); }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_EQ(borrowed->command(request{"CLIENT", "ID"}).integer(), id);
    EXPECT_EQ(redis.command("PING").text(), "PONG");
}

// The parent's end must be seen by the server although the child lives.
TEST_F(ClientFork, ConnectionOfAParentThatWentIsNotKeptAliveByItsChild) {
    auto redis = std::optional<client>{std::in_place, server.url() + "?client_name=parent"};
    redis->command("PING");
    child_process child{[] { ::pause(); }};
    redis.reset();
    EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == 0; }));
    EXPECT_TRUE(child.running());
}

TEST_F(ClientFork, InheritedConnectionRefusesToWork) {
    connection redis{endpoint::parse(server.url())};
    redis.send(request{"ECHO", "of the parent"});
    child_process child{[&] {
        EXPECT_FALSE(redis.usable());
        EXPECT_TRUE(redis.stale());
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(thrown_by([&] { return redis.exchange(request{"PING"}); }).code(), errc::forked);
            EXPECT_EQ(thrown_by([&] { return redis.pipeline(request{"PING"}); }).code(), errc::forked);
            EXPECT_EQ(thrown_by([&] { redis.send(request{"PING"}); }).code(), errc::forked);
            EXPECT_EQ(thrown_by([&] { return redis.receive(); }).code(), errc::forked);
        }
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_EQ(redis.receive().text(), "of the parent");
}

// The number of the closed socket is used again in the child, by a connection of its own.
TEST_F(ClientFork, InheritedConnectionTouchesNoDescriptorThatCameLater) {
    auto inherited = std::optional<connection>{endpoint::parse(server.url())};
    child_process child{[&] {
        connection own{endpoint::parse(server.url())};
        const auto sockets = open_sockets();
        EXPECT_EQ(thrown_by([&] { return inherited->exchange(request{"PING"}); }).code(), errc::forked);
        inherited.reset();
        EXPECT_EQ(open_sockets(), sockets);
        EXPECT_EQ(own.command(request{"PING"}).text(), "PONG");
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_EQ(inherited->command(request{"PING"}).text(), "PONG");
}

// The same number again, now of something that has nothing to do with the library, one generation later.
TEST_F(ClientFork, DescriptorThatCameLaterIsNotClosedInAGrandchild) {
    const connection redis{endpoint::parse(server.url())};
    child_process child{[&] {
        std::array<int, 2> pair{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
        const auto sockets = open_sockets();
        child_process grandchild{[&] { EXPECT_EQ(open_sockets(), sockets); }};
        EXPECT_EQ(grandchild.wait(5s), exited(0));
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
}

TEST_F(ClientFork, ClientDestroyedInTheChildDisturbsNobody) {
    auto redis = std::optional<client>{std::in_place, server.url()};
    auto borrowed = std::optional{redis->pool()->borrow()};
    const auto id = id_of(*redis);
    child_process child{[&] {
        borrowed.reset();
        redis.reset();
    }};
    EXPECT_EQ(child.wait(10s), exited(0));
    EXPECT_EQ(id_of(*redis), id);
    EXPECT_EQ((*borrowed)->command(request{"PING"}).text(), "PONG");
}

TEST_F(ClientFork, ChildThatDiesHardDisturbsNobody) {
    client redis{server.url()};
    const auto id = id_of(redis);
    const shared_memory<process_barrier> ready{2U};
    child_process child{[&] {
        redis.command("PING");
        EXPECT_TRUE(ready->wait(5s));
        ::pause();
    }};
    EXPECT_TRUE(ready->wait(5s));
    child.kill_hard();
    EXPECT_EQ(id_of(redis), id);
    EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == 1; }));
}

// Forked by one thread while others are in the middle of everything: no deadlock, no answer of somebody else's.
TEST_F(ClientFork, OfAProcessWhoseThreadsAreBusyWorks) {
    client redis{server.url(), {.max_idle_connections = 2}};
    std::vector<std::jthread> crew;
    for (int number = 0; number < 4; ++number)
        crew.emplace_back([&](const std::stop_token& stop) {
            for (int i = 0; !stop.stop_requested(); ++i)
                ASSERT_EQ(redis.command("ECHO", i).text(), std::to_string(i));
        });
    // ... and one that is hardly ever outside the pool's own lock.
    crew.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested())
            redis.pool()->drop_idle();
    });
    for (int i = 0; i < 40; ++i) {
        child_process child{[&] {
            for (int round = 0; round < 10; ++round)
                EXPECT_EQ(redis.command("ECHO", "child").text(), "child");
        }};
        ASSERT_EQ(child.wait(20s), exited(0));
    }
}

// A socket that is still connecting belongs to the parent as much as one that is connected.
TEST_F(ClientFork, SocketOfAConnectUnderWayIsClosedInTheChildToo) {
    const deaf_listener nobody;
    const auto before = open_sockets();
    std::jthread caller{[&] {
        EXPECT_EQ(
            thrown_by([&] { return connection{endpoint::parse(nobody.url() + "?connect_timeout=700ms")}; }).code(),
            errc::connect_failed);
    }};
    ASSERT_TRUE(eventually(1s, [&] { return open_sockets() == before + 1; }));
    child_process child{[&] { EXPECT_EQ(open_sockets(), before); }};
    EXPECT_EQ(child.wait(10s), exited(0));
}

TEST_F(ClientFork, ChildRunsScriptsWhoseHashItsParentLearned) {
    client redis{server.url()};
    const auto release = [&] {
        return run(*redis.pool(), scripts::release_lock().call({"none"}, token::generate())).integer();
    };
    EXPECT_EQ(release(), 0);
    child_process child{[&] { EXPECT_EQ(release(), 0); }};
    EXPECT_EQ(child.wait(10s), exited(0));
}

#ifdef TRANCA_WITH_TLS

// Not even the closing message of TLS is sent: it would end the parent's session.
TEST(ClientForkTls, ChildDisturbsNoSessionOfItsParent) {
    const tls_certificates certificates;
    redis_server server{{.tls = &certificates}};
    auto redis = std::optional<client>{std::in_place, server.tls_url() + "?ca_file=" + certificates.ca().native()};
    auto borrowed = std::optional{redis->pool()->borrow()};
    const auto id = id_of(*redis);
    child_process child{[&] {
        EXPECT_NE(id_of(*redis), id);
        borrowed.reset();
        redis.reset();
    }};
    EXPECT_EQ(child.wait(20s), exited(0));
    EXPECT_EQ(id_of(*redis), id);
    EXPECT_EQ((*borrowed)->command(request{"PING"}).text(), "PONG");
}

#endif

}  // namespace
}  // namespace tranca::testing
