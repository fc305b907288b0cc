// Every condition of faults.hpp has its effect on a real server, and is over afterwards.
#include <gmock/gmock.h>

#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "support/replica_pair.hpp"
#include "support/socket.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr auto compare_and_delete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

class Faults : public redis_fixture {
protected:
    redis_value compare_and_del(const std::string& key, const std::string& token) {
        return raw.command({"EVAL", compare_and_delete, "1", key, token});
    }

    // Some faults change what the server of the others would not forget: they get one of their own.
    redis_server own;
    raw_client own_raw{own.raw()};
};

TEST_F(Faults, FrozenServerAcceptsButDoesNotAnswer) {
    auto hurried = raw_client{server.tcp(), {.timeout = 300ms}};
    {
        const fault ice = frozen(server);
        EXPECT_NO_THROW(connect_to(server.tcp()));
        EXPECT_THROW(hurried.command({"PING"}), raw_error);
    }
    EXPECT_EQ(raw.command({"PING"}), "PONG");
}

TEST_F(Faults, UnreachableServerRefuses) {
    {
        const fault gone = unreachable(own);
        EXPECT_THROW(connect_to(own.tcp()), std::system_error);
    }
    EXPECT_EQ(own_raw.command({"PING"}), "PONG");
}

TEST_F(Faults, RestartForgetsEverything) {
    own_raw.set("k", "v");
    restart_without_persistence(own);
    EXPECT_EQ(own_raw.dbsize(), 0);
}

TEST_F(Faults, LoadingServerSaysSoToEverything) {
    own_raw.set("k", "v");
    {
        const fault slow = loading(own);
        EXPECT_TRUE(own_raw.command({"PING"}).is_error("LOADING"));
        EXPECT_TRUE(own_raw.command({"SET", "a", "b"}).is_error("LOADING"));
        EXPECT_TRUE(own_raw.command({"EVAL", "return 1", "0"}).is_error("LOADING"));
    }
    EXPECT_EQ(own_raw.get("k"), "v");
    EXPECT_EQ(own_raw.dbsize(), 1);
    own.restart();
    EXPECT_EQ(own_raw.dbsize(), 0);
}

TEST_F(Faults, BusyServerSaysSoToEverything) {
    const auto threshold = raw.config_get("lua-time-limit");
    {
        const fault busy = busy_script(server);
        EXPECT_TRUE(raw.command({"PING"}).is_error("BUSY"));
        EXPECT_TRUE(raw.command({"SET", "a", "b"}).is_error("BUSY"));
    }
    EXPECT_EQ(raw.command({"SET", "a", "b"}), "OK");
    EXPECT_EQ(raw.config_get("lua-time-limit"), threshold);
}

TEST_F(Faults, DemotedServerIsReadOnly) {
    raw.set("k", "token");
    auto waiter = server.raw();
    waiter.send({"BLPOP", "list", "5"});
    ASSERT_TRUE(eventually(2s, [&] { return raw.info("blocked_clients") == "1"; }));
    {
        const fault replica = demoted(server);
        EXPECT_TRUE(raw.command({"SET", "a", "b"}).is_error("READONLY"));
        EXPECT_TRUE(waiter.receive().is_error("UNBLOCKED"));
        EXPECT_EQ(compare_and_del("k", "other"), 0);
        EXPECT_TRUE(compare_and_del("k", "token").is_error());
    }
    EXPECT_EQ(raw.command({"SET", "a", "b"}), "OK");
}

TEST_F(Faults, NoReplicasRefusesWrites) {
    {
        const fault alone = no_replicas(server);
        EXPECT_TRUE(raw.command({"SET", "a", "b"}).is_error("NOREPLICAS"));
        EXPECT_TRUE(raw.command({"DEL", "a"}).is_error("NOREPLICAS"));
    }
    EXPECT_EQ(raw.command({"SET", "a", "b"}), "OK");
}

TEST_F(Faults, OutOfMemoryRefusesGrowth) {
    raw.set("k", "token");
    {
        const fault full = out_of_memory(server);
        EXPECT_TRUE(raw.command({"SET", "a", "b"}).is_error("OOM"));
        EXPECT_TRUE(raw.command({"ZADD", "z", "1", "b"}).is_error("OOM"));
        EXPECT_EQ(compare_and_del("k", "token"), 1);  // release by script still works
    }
    EXPECT_EQ(raw.command({"SET", "a", "b"}), "OK");
    EXPECT_EQ(raw.dbsize(), 1);
}

TEST_F(Faults, EvictionTakesKeysWithATtlOnly) {
    raw.set("lock", "token", 100s);
    raw.set("data", "x");
    EXPECT_EQ(evict_keys_with_ttl(server), 1);
    EXPECT_THAT(raw.keys(), ::testing::ElementsAre("data"));
    EXPECT_EQ(raw.config_get("maxmemory"), "0");
}

TEST_F(Faults, DiskErrorRefusesWrites) {
    raw.set("k", "token");
    {
        const fault disk = disk_error(server);
        EXPECT_TRUE(raw.command({"SET", "a", "b"}).is_error("MISCONF"));
        EXPECT_TRUE(compare_and_del("k", "token").is_error());
        EXPECT_EQ(compare_and_del("k", "other"), 0);
    }
    EXPECT_EQ(raw.command({"SET", "a", "b"}), "OK");
    EXPECT_EQ(raw.config_get("save"), "");
}

TEST_F(Faults, FlushedScriptsAreUnknown) {
    const auto sha = raw.must({"SCRIPT", "LOAD", "return 1"}).text;
    EXPECT_EQ(raw.command({"EVALSHA", sha, "0"}), 1);
    flush_scripts(server);
    EXPECT_TRUE(raw.command({"EVALSHA", sha, "0"}).is_error("NOSCRIPT"));
}

TEST_F(Faults, TooManyClientsTurnsNewOnesAway) {
    const auto knock = [&] { return raw_client{server.tcp(), {.name = ""}}.receive(); };
    {
        const fault crowded = too_many_clients(server);
        EXPECT_EQ(knock().text, "ERR max number of clients reached");
        EXPECT_EQ(raw.command({"PING"}), "PONG");
    }
    {
        const fault crowded = too_many_clients(server, 1);
        auto last = server.raw();
        EXPECT_TRUE(knock().is_error("ERR"));
    }
    EXPECT_EQ(server.raw().command({"PING"}), "PONG");
}

TEST_F(Faults, PauseHoldsWritesBack) {
    const stopwatch watch;
    {
        const fault pause = paused(server, 500ms);
        raw.command({"GET", "a"});
        EXPECT_LT(watch.elapsed(), 490ms);
        raw.command({"SET", "a", "b"});
        EXPECT_GE(watch.elapsed(), 490ms);
    }
    const fault pause = paused(server, 100ms, paused_commands::all);
    const stopwatch again;
    raw.command({"GET", "a"});
    EXPECT_GE(again.elapsed(), 90ms);
}

TEST_F(Faults, IdleConnectionsAreClosed) {
    auto idle = raw_client{server.tcp(), {.name = "idle"}};
    auto blocked = raw_client{server.tcp(), {.name = "blocked"}};
    blocked.send({"BLPOP", "list", "0"});
    EXPECT_EQ(server.foreign_connections(), 2);
    close_idle_connections(server);
    EXPECT_EQ(server.foreign_connections(), 1);
    EXPECT_EQ(raw.config_get("timeout"), "0");
}

TEST_F(Faults, KilledConnectionsSeeTheEnd) {
    auto one = raw_client{server.tcp(), {.name = "one"}};
    auto two = raw_client{server.tcp(), {.name = "two"}};
    const auto mine = raw.id();
    one.send({"BLPOP", "list", "0"});
    ASSERT_TRUE(eventually(2s, [&] { return raw.info("blocked_clients") == "1"; }));
    EXPECT_EQ(kill_connections(server, "one"), 1);
    EXPECT_THROW(one.receive(), raw_error);
    EXPECT_EQ(kill_connections(server), 1);
    EXPECT_EQ(server.foreign_connections(), 0);
    EXPECT_EQ(raw.id(), mine);
}

TEST_F(Faults, KeysComeInBadShapes) {
    make_wrong_type(server, "list");
    EXPECT_TRUE(raw.command({"GET", "list"}).is_error("WRONGTYPE"));
    EXPECT_EQ(raw.command({"SET", "list", "t", "NX"}), nullptr);
    make_without_ttl(server, "forever");
    EXPECT_EQ(raw.pttl("forever"), -1);
    raw.set("k", "v", 100s);
    make_expired(server, "k");
    EXPECT_EQ(raw.exists("k"), 0);
}

TEST_F(Faults, PasswordIsAskedOfNewConnections) {
    {
        const fault locked = password_required(server, "s3cret");
        EXPECT_TRUE(raw_client{server.tcp()}.command({"PING"}).is_error("NOAUTH"));
        EXPECT_THAT(server.url(), HasSubstr(":s3cret@"));
        EXPECT_EQ(server.raw().command({"PING"}), "PONG");
    }
    EXPECT_EQ(raw_client{server.tcp()}.command({"PING"}), "PONG");
}

TEST_F(Faults, AccountsLackWhatTheyLack) {
    {
        const account user = without_scripting(server);
        auto client = user.raw();
        EXPECT_EQ(client.command({"SET", "k", "v", "NX"}), "OK");
        EXPECT_TRUE(client.command({"EVAL", "return 1", "0"}).is_error("NOPERM"));
        EXPECT_THAT(user.url(), HasSubstr(user.name() + ":" + user.password() + "@"));
    }
    const account keys = only_keys(server, "app:*");
    EXPECT_TRUE(keys.raw().command({"SET", "k", "v"}).is_error("NOPERM"));
    EXPECT_EQ(keys.raw().command({"SET", "app:k", "v"}), "OK");
    const account silent = without_channels(server);
    EXPECT_TRUE(silent.raw().command({"PUBLISH", "c", "x"}).is_error("NOPERM"));
    const account plain = without(server, {"client", "info", "hello"});
    EXPECT_TRUE(plain.raw().command({"CLIENT", "ID"}).is_error("NOPERM"));
    EXPECT_EQ(plain.raw().command({"EVAL", "return 1", "0"}), 1);
    const account few = rights(server, {"~*", "+get"});
    EXPECT_TRUE(few.raw().command({"SET", "k", "v"}).is_error("NOPERM"));
    EXPECT_EQ(raw.must({"ACL", "LIST"}).size(), 5u);  // default and the four that still live
}

TEST(SingleNodeCluster, MindsItsSlots) {
    const auto cluster = single_node_cluster();
    auto raw = cluster->raw();
    EXPECT_EQ(raw.command({"SET", "a", "1"}), "OK");
    EXPECT_TRUE(raw.command({"MGET", "a", "b"}).is_error("CROSSSLOT"));
    EXPECT_TRUE(raw.command({"EVAL", "return 1", "2", "a", "b"}).is_error("CROSSSLOT"));
}

TEST(ReplicaPair, LosesWhatWasNotReplicated) {
    replica_pair pair;
    const auto through = [&] { return raw_client{pair.gate().where()}; };
    through().set("known", "1");
    pair.wait_in_sync();
    pair.stop_replication();
    through().set("lost", "1");
    pair.fail_over();
    EXPECT_EQ(through().exists("known"), 1);
    EXPECT_EQ(through().exists("lost"), 0);
    EXPECT_EQ(through().command({"SET", "k", "v"}), "OK");
    EXPECT_THAT(pair.url(), HasSubstr("redis://"));
}

TEST(ReplicaPair, SwitchesRoles) {
    replica_pair pair;
    auto old = raw_client{pair.gate().where()};
    old.set("k", "1");
    pair.wait_in_sync();
    pair.switch_over();
    EXPECT_TRUE(old.command({"SET", "k", "2"}).is_error("READONLY"));
    EXPECT_EQ(raw_client{pair.gate().where()}.command({"SET", "k", "3"}), "OK");
}

TEST(Fault, EndsOnce) {
    int undone = 0;
    {
        fault first{[&] { ++undone; }};
        fault second = std::move(first);
        second.end();
        second.end();
    }
    EXPECT_EQ(undone, 1);
}

}  // namespace
}  // namespace tranca::testing
