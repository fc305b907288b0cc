// The pool of a client: lazy, one borrower a connection, nothing dead handed out (cases H05, N16).
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tranca/client.hpp>

#include "integration/descriptors.hpp"
#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/tcp_gate.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using ClientPool = redis_fixture;

TEST_F(ClientPool, ConnectsWhenItIsFirstAsked) {
    const auto before = raw.connections_received();
    client redis{server.url()};
    EXPECT_EQ(raw.connections_received(), before);
    redis.command("PING");
    EXPECT_EQ(raw.connections_received(), before + 1);
}

TEST_F(ClientPool, NeedsNoServerToBeMade) { EXPECT_NO_THROW(client{address::tcp(1).url()}); }

TEST_F(ClientPool, UsesOneConnectionAgainAndAgain) {
    client redis{server.url()};
    const auto first = redis.command("CLIENT", "ID").integer();
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(redis.command("CLIENT", "ID").integer(), first);
}

TEST_F(ClientPool, GivesEachBorrowerAConnectionOfItsOwn) {
    client redis{server.url()};
    auto first = redis.pool()->borrow();
    auto second = redis.pool()->borrow();
    EXPECT_NE(first->command(request{"CLIENT", "ID"}).integer(), second->command(request{"CLIENT", "ID"}).integer());
    EXPECT_FALSE(first.was_idle());
    const auto third = [&] { return redis.command("CLIENT", "ID").integer(); };
    const auto its_id = third();
    EXPECT_EQ(third(), its_id);
    EXPECT_NE(its_id, first->command(request{"CLIENT", "ID"}).integer());
}

TEST_F(ClientPool, TellsIdleConnectionsFromNewOnes) {
    client redis{server.url()};
    EXPECT_FALSE(redis.pool()->borrow().was_idle());
    EXPECT_TRUE(redis.pool()->borrow().was_idle());
}

TEST_F(ClientPool, KeepsNoMoreIdleConnectionsThanToldTo) {
    for (const std::size_t limit : {0U, 1U, 3U}) {
        client redis{server.url(), {.max_idle_connections = limit}};
        {
            std::vector<connection_pool::borrowed> crowd;
            for (int i = 0; i < 5; ++i)
                crowd.push_back(redis.pool()->borrow());
            EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == 5; }));
        }
        EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == static_cast<std::int64_t>(limit); }));
        EXPECT_EQ(redis.command("PING").text(), "PONG");
    }
}

TEST_F(ClientPool, ClosesEverythingAtItsEnd) {
    const auto before = open_sockets();
    {
        client redis{server.url()};
        auto first = redis.pool()->borrow();
        redis.command("PING");
        EXPECT_EQ(open_sockets(), before + 2);
    }
    EXPECT_EQ(open_sockets(), before);
    EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == 0; }));
}

TEST_F(ClientPool, LivesOnForThoseWhoStillHoldItButKeepsNothing) {
    auto redis = std::make_unique<client>(server.url());
    const auto pool = redis->pool();
    redis->command("PING");
    redis.reset();
    EXPECT_TRUE(pool->closing().stop_requested());
    EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == 0; }));
    EXPECT_EQ(pool->borrow()->command(request{"PING"}).text(), "PONG");
    EXPECT_TRUE(eventually(2s, [&] { return server.foreign_connections() == 0; }));
}

TEST_F(ClientPool, MovesWithItsClient) {
    client first{server.url()};
    const auto id = first.command("CLIENT", "ID").integer();
    client second = std::move(first);
    EXPECT_EQ(second.command("CLIENT", "ID").integer(), id);
    client third{server.url(3)};
    const auto closed = third.pool();
    third.command("PING");
    third = std::move(second);
    EXPECT_TRUE(closed->closing().stop_requested());
    EXPECT_FALSE(third.pool()->closing().stop_requested());
    EXPECT_EQ(third.command("CLIENT", "ID").integer(), id);
    auto& itself = third;
    third = std::move(itself);
    EXPECT_EQ(third.command("CLIENT", "ID").integer(), id);
    EXPECT_EQ(third.where().database, 0);
}

// Case H05, by the server's own idle limit.
TEST_F(ClientPool, NoticesThatTheServerClosedIdleConnections) {
    client redis{server.url()};
    {
        auto first = redis.pool()->borrow();
        auto second = redis.pool()->borrow();
    }
    close_idle_connections(server);
    EXPECT_EQ(redis.command("SET", "a", "1").text(), "OK");
    EXPECT_EQ(redis.command("GET", "a").text(), "1");
}

TEST_F(ClientPool, NoticesThatTheServerWasRestarted) {
    redis_server own;
    client redis{own.url()};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(redis.command("PING").text(), "PONG");
        own.restart();
    }
    EXPECT_EQ(redis.command("PING").text(), "PONG");
}

TEST_F(ClientPool, NoticesAKilledConnectionRightBeforeACommand) {
    client redis{server.url()};
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(redis.command("INCR", "counter").integer(), i + 1);
        kill_connections(server);
    }
}

// The connection breaks after the request left: it may have been run, so it is not sent again.
TEST_F(ClientPool, DoesNotRepeatACommandThatMayHaveBeenRun) {
    tcp_gate gate{server.tcp()};
    client redis{gate.url()};
    redis.command("PING");
    gate.swallow_reply("INCR");
    const auto failure = thrown_by([&] { return redis.command("INCR", "counter"); });
    EXPECT_EQ(failure.code(), errc::connection_lost);
    EXPECT_TRUE(failure.in_doubt());
    EXPECT_EQ(raw.get("counter"), "1");
    EXPECT_EQ(gate.commands("INCR"), 1U);
    EXPECT_EQ(redis.command("INCR", "counter").integer(), 2);
}

TEST_F(ClientPool, RepeatsOnceWhatIsSafeToRepeat) {
    tcp_gate gate{server.tcp()};
    client redis{gate.url()};
    redis.command("PING");
    gate.swallow_reply("SET");
    const auto set = [](connection& line) { return line.command(request{"SET", "a", "1"}); };
    EXPECT_TRUE(redis.pool()->with_connection(resend::safe, set).is_ok());
    EXPECT_EQ(gate.commands("SET"), 2U);
}

TEST_F(ClientPool, RepeatsNothingOnANewConnection) {
    tcp_gate gate{server.tcp()};
    client redis{gate.url()};
    gate.swallow_reply("SET");
    const auto set = [](connection& line) { return line.command(request{"SET", "a", "1"}); };
    EXPECT_EQ(thrown_by([&] { return redis.pool()->with_connection(resend::safe, set); }).code(),
              errc::connection_lost);
    EXPECT_EQ(gate.commands("SET"), 1U);
}

// A second failure is an error: there is no loop.
TEST_F(ClientPool, RepeatsNoMoreThanOnce) {
    tcp_gate gate{server.tcp()};
    client redis{gate.url()};
    redis.command("PING");
    gate.swallow_reply("SET");
    gate.swallow_reply("SET");
    const auto set = [](connection& line) { return line.command(request{"SET", "a", "1"}); };
    EXPECT_EQ(thrown_by([&] { return redis.pool()->with_connection(resend::safe, set); }).code(),
              errc::connection_lost);
    EXPECT_EQ(gate.commands("SET"), 2U);
}

TEST_F(ClientPool, KeepsAConnectionWhoseCommandWasRefused) {
    client redis{server.url()};
    const auto id = redis.command("CLIENT", "ID").integer();
    raw.set("text", "x");
    EXPECT_EQ(thrown_by([&] { return redis.command("LPUSH", "text", "y"); }).code(), errc::wrong_type);
    EXPECT_EQ(redis.command("CLIENT", "ID").integer(), id);
}

// Commands that change what later ones mean: nobody who comes after may find the connection so (case H04: a lock in
// another database).
TEST_F(ClientPool, LeavesNoStateOfACommandBehind) {
    const std::vector<request> all{request{"SELECT", 5},
                                   request{"select", 5},
                                   request{"MULTI"},
                                   request{"WATCH", "a"},
                                   request{"CLIENT", "SETNAME", "other"},
                                   request{"CLIENT", "NO-EVICT", "ON"},
                                   request{"SUBSCRIBE", "news"},
                                   request{"RESET"}};
    client redis{server.url() + "?client_name=mine"};
    for (const auto& command : all) {
        static_cast<void>(redis.run(command));
        EXPECT_EQ(redis.command("CLIENT", "GETNAME").text(), "mine") << command.describe();
        raw.set("a", "changed");
        auto line = redis.pool()->borrow();
        EXPECT_FALSE(line->transaction(request{"SET", "b", "1"}).is_nil()) << command.describe();
        EXPECT_EQ(raw.del("b"), 1) << command.describe() << ": it went into another database";
    }
}

TEST_F(ClientPool, ReusesAConnectionAfterCommandsThatLeaveNoState) {
    client redis{server.url()};
    const auto id = redis.command("CLIENT", "ID").integer();
    redis.command("SET", "SELECT", "MULTI");
    redis.command("CLIENT", "LIST");
    redis.command("PING");
    EXPECT_EQ(redis.command("CLIENT", "ID").integer(), id);
}

// Case N16.
TEST_F(ClientPool, SaysThatTheServerHasTooManyClientsAndRecovers) {
    client redis{server.url()};
    const auto before = open_sockets();
    {
        const fault full = too_many_clients(server);
        for (int i = 0; i < 20; ++i) {
            const auto failure = thrown_by([&] { return redis.command("PING"); });
            EXPECT_EQ(failure.code(), errc::max_clients);
            EXPECT_TRUE(failure.temporary());
            EXPECT_FALSE(failure.in_doubt());
        }
        EXPECT_EQ(open_sockets(), before);
    }
    EXPECT_EQ(redis.command("PING").text(), "PONG");
}

// The reason lies in the socket although nothing can be sent on it any more.
TEST_F(ClientPool, SaysThatTheServerHasTooManyClientsEvenAfterItHungUp) {
    const fault full = too_many_clients(server);
    connection redis{endpoint::parse(server.unix_url())};
    ASSERT_TRUE(eventually(2s, [&] { return redis.stale(); }));
    const auto failure = thrown_by([&] { redis.send(request{"PING"}); });
    EXPECT_EQ(failure.code(), errc::max_clients);
    EXPECT_FALSE(failure.in_doubt());
    EXPECT_FALSE(redis.usable());
}

TEST_F(ClientPool, SaysThatTheServerHasTooManyClientsDuringTheHandshakeToo) {
    client redis{server.url(5) + "?client_name=worker"};
    const fault full = too_many_clients(server);
    const auto failure = thrown_by([&] { return redis.command("PING"); });
    EXPECT_EQ(failure.code(), errc::max_clients);
    EXPECT_THAT(failure.text(), HasSubstr("max number of clients"));
}

// Case N03: a connection to a demoted server would lead to it for ever.
TEST_F(ClientPool, DropsTheConnectionToADemotedServer) {
    client redis{server.url()};
    const auto id = redis.command("CLIENT", "ID").integer();
    {
        const fault replica = demoted(server);
        EXPECT_EQ(thrown_by([&] { return redis.command("SET", "a", "1"); }).code(), errc::read_only);
    }
    EXPECT_NE(redis.command("CLIENT", "ID").integer(), id);
}

TEST_F(ClientPool, DropsTheConnectionToADemotedServerWhoseScriptSaidSo) {
    client redis{server.url()};
    const auto id = redis.command("CLIENT", "ID").integer();
    {
        const fault replica = demoted(server);
        const auto failure =
            thrown_by([&] { return redis.command("EVAL", "return redis.call('SET', KEYS[1], 1)", 1, "a"); });
        EXPECT_EQ(failure.code(), errc::read_only) << failure.what();
    }
    EXPECT_NE(redis.command("CLIENT", "ID").integer(), id);
}

TEST_F(ClientPool, LeaksNoDescriptorOverManyFailures) {
    tcp_gate gate{server.tcp()};
    client redis{gate.url() + "?command_timeout=20ms&connect_timeout=100ms"};
    // So short a time may not do at once on a busy machine: one more failure.
    const auto is_answered = [&] {
        return eventually(5s, [&] {
            try {
                redis.command("PING");
                return true;
            } catch (const error&) {
                return false;
            }
        });
    };
    EXPECT_TRUE(is_answered());
    EXPECT_TRUE(eventually(2s, [&] { return gate.connections_open() == 1; }));
    const auto before = open_sockets();
    for (int i = 0; i < 10; ++i) {
        gate.black_hole(direction::to_client);
        EXPECT_EQ(thrown_by([&] { return redis.command("PING"); }).code(), errc::timeout);
        gate.pass();
        EXPECT_TRUE(is_answered());
        gate.cut();
        EXPECT_TRUE(is_answered());
    }
    gate.cut();
    EXPECT_TRUE(eventually(2s, [&] { return gate.connections_open() == 0; }));
    EXPECT_TRUE(is_answered());
    EXPECT_TRUE(eventually(2s, [&] { return open_sockets() == before; }));
}

}  // namespace
}  // namespace tranca::testing
