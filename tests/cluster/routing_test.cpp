// Where commands go: to the node of their key, also if that changes, and with few words about it.
#include <memory>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "support/fake_server.hpp"

namespace tranca::cluster_test {
namespace {

using ::testing::HasSubstr;

class ClusterRouting : public cluster_fixture {
protected:
    /// A slot of the master number `which`, a key in it, and two masters.
    void choose(std::size_t which) {
        name = name_at(which, 11, "");
        slot = hash_slot(name);
        from = &set.owner_of(slot);
        to = &set.server(another_than(*from));
    }
    [[nodiscard]] std::string tagged(std::string_view rest) const { return "{" + name + "}" + std::string{rest}; }

    client redis{url};
    std::string name;
    unsigned slot = 0;
    redis_server* from = nullptr;
    redis_server* to = nullptr;
};

TEST_F(ClusterRouting, CommandsGoToTheNodeOfTheirKey) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        choose(node);
        EXPECT_EQ(redis.command("SET", name, "1").text(), "OK");
        EXPECT_EQ(redis.command("EVAL", "return redis.call('GET', KEYS[1])", 1, name).text(), "1");
        EXPECT_EQ(redis.server(name).port, from->port());
        EXPECT_EQ(from->raw().exists(name), 1);
    }
    EXPECT_EQ(set.errors_said("MOVED"), 0);  // the map told where, at once
    EXPECT_EQ(redis.command("PING").text(), "PONG");
    EXPECT_THAT(redis.command("INFO", "server").text(), HasSubstr("_mode:cluster"));
}

TEST_F(ClusterRouting, ASlotThatMovedCostsOneRedirection) {
    choose(0);
    redis.command("SET", name, "1");
    set.move_slot(slot, set.index_of(*to));
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(redis.command("GET", name).text(), "1");
    EXPECT_EQ(set.errors_said("MOVED"), 1);
    EXPECT_EQ(redis.server(name).port, to->port());
}

TEST_F(ClusterRouting, ManySlotsThatMovedCostAFewRedirections) {
    std::vector<std::string> names;
    for (int salt = 0; salt < 20; ++salt)
        names.push_back(name_at(0, salt, ""));
    redis.command("SET", names[0], "1");
    for (const auto& each : names)
        set.move_slot(hash_slot(each), another_than(set.server(set.master_indices()[0])));
    for (const auto& each : names)
        redis.command("SET", each, "1");
    EXPECT_GE(set.errors_said("MOVED"), 1);
    EXPECT_LE(set.errors_said("MOVED"), 3);  // the first one has the whole map asked for anew
    for (const auto& each : names)
        set.move_slot(hash_slot(each), set.master_indices()[0]);
}

TEST_F(ClusterRouting, ASlotOnItsWayIsAskedForOnceEach) {
    choose(1);
    redis.command("SET", tagged("gone"), "there");
    redis.command("SET", tagged("here"), "here");
    set.begin_move(slot, *from, *to);
    set.move_keys(slot, *from, *to, tagged("gone"));
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(redis.command("GET", tagged("gone")).text(), "there");
        EXPECT_EQ(redis.command("GET", tagged("here")).text(), "here");
    }
    EXPECT_EQ(set.errors_said("ASK"), 5);    // the map stays as it is
    EXPECT_EQ(set.errors_said("MOVED"), 0);  // nobody was asked without ASKING
    EXPECT_EQ(redis.server(name).port, from->port());
    set.end_move(slot, *from, *to);
    EXPECT_EQ(redis.command("GET", tagged("here")).text(), "here");
    EXPECT_EQ(redis.command("GET", tagged("gone")).text(), "there");
    EXPECT_EQ(set.errors_said("ASK"), 5);
    EXPECT_EQ(set.errors_said("MOVED"), 1);
}

TEST_F(ClusterRouting, AScriptTheNextNodeDoesNotKnowIsTakenThere) {
    choose(2);
    ASSERT_TRUE(fenced_write(redis, name, 5, "five"));
    set.begin_move(slot, *from, *to);
    set.move_keys(slot, *from, *to);
    to->must({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(fenced_write(redis, name, 6, "six"));
    EXPECT_FALSE(fenced_write(redis, name, 5, "five"));
    EXPECT_EQ(fenced_read(redis, name, 6).value, "six");
    EXPECT_GE(set.errors_said("ASK"), 3);
    set.end_move(slot, *from, *to);
    EXPECT_EQ(fenced_read(redis, name, 7).value, "six");
}

// Its keys are here and there: no script sees them together, until they are.
TEST_F(ClusterRouting, KeysThatAreApartAreWaitedFor) {
    choose(0);
    redis.command("SET", tagged("gone"), "1");
    redis.command("SET", tagged("here"), "2");
    set.begin_move(slot, *from, *to);
    set.move_keys(slot, *from, *to, tagged("gone"));
    const stopwatch since;
    const auto failure = thrown_by([&] { redis.command("MGET", tagged("here"), tagged("gone")); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), errc::try_again);
    EXPECT_GT(since.elapsed(), 900ms);  // for as long as command_timeout
    EXPECT_LT(since.elapsed(), 3s);
    const auto said = set.errors_said("TRYAGAIN");
    std::optional<reply> found;
    std::jthread asker{
        [&] { static_cast<void>(thrown_by([&] { found = redis.command("MGET", tagged("here"), tagged("gone")); })); }};
    EXPECT_TRUE(eventually(900ms, [&] { return set.errors_said("TRYAGAIN") > said + 2; }));
    set.end_move(slot, *from, *to);
    asker.join();
    ASSERT_TRUE(found);
    EXPECT_EQ((*found)[1].text(), "1");
}

TEST_F(ClusterRouting, ConnectionsAreKeptForEachNode) {
    client mine{url + "&client_name=mine"};
    for (int i = 0; i < 10; ++i)
        for (std::size_t node = 0; node < cluster_set::masters; ++node)
            mine.command("SET", name_at(node, i, ""), "1");
    EXPECT_EQ(set.clients_named("mine"), 1 + 3);  // one that asked for the map, and one to each
}

TEST_F(ClusterRouting, ManyThreadsAskForTheMapOnce) {
    choose(0);
    const auto before = set.calls("cluster|slots");
    std::vector<std::jthread> crew;
    for (int i = 0; i < 16; ++i)
        crew.emplace_back([&] { redis.command("SET", name, "1"); });
    crew.clear();
    EXPECT_EQ(set.calls("cluster|slots") - before, 1);
}

TEST_F(ClusterRouting, ADeadSeedIsPassedOver) {
    std::uint16_t gone = 0;
    {
        redis_server short_lived;
        gone = short_lived.port();
    }
    client patient{"redis-cluster://127.0.0.1:" + std::to_string(gone) + "," + set.server(5).tcp().text()};
    EXPECT_EQ(patient.command("SET", "a", "1").text(), "OK");
}

TEST_F(ClusterRouting, AnAccountNeedsItsRightsAtTheNodeItUses) {
    const std::string rights =
        "+cluster|slots +asking +eval +evalsha +script|load +set +get +del +time +pttl +pexpire +exists "
        "+llen +lpush +blpop +client|info +client|unblock +client|kill +command|info";
    set.set_account("worker", "secret", rights);
    client narrow{set.url("worker:secret@")};
    const auto name_there = name_at(0);
    const auto name_here = name_at(1);
    auto& node_there = set.owner_of(slot_of_lock(name_there));
    EXPECT_TRUE(mutex(narrow, name_here).try_acquire());
    // What was tried at one node says nothing of another one: what cannot be released there is not taken.
    node_there.must({"ACL", "SETUSER", "worker", "-del"});
    const auto failure = thrown_by([&] { static_cast<void>(mutex{narrow, name_there}.try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), errc::no_permission);
    EXPECT_EQ(exists("lock:" + name_there), 0);
    EXPECT_TRUE(mutex(narrow, name_here).try_acquire());
    node_there.must({"ACL", "SETUSER", "worker", "+del"});
    // Also on the way.
    auto held = mutex{narrow, name_there, {.lease = renewed_often()}}.acquire();
    auto& next = set.server(another_than(node_there));
    set.begin_move(slot_of_lock(name_there), node_there, next);
    set.move_keys(slot_of_lock(name_there), node_there, next);
    const auto first = held.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return held.safe_until() > first + some_renewals; }));
    set.end_move(slot_of_lock(name_there), node_there, next);
    EXPECT_EQ(held.release(), release_result::released);
    const auto wrong = thrown_by([&] { client{set.url("worker:wrong@")}.command("GET", "a"); });
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->code(), errc::authentication);
    EXPECT_THAT(wrong->text(), ::testing::Not(HasSubstr("wrong@")));
}

// Its node is silent for a while, for less than it takes to be called dead, and finds the attempt and its undoing.
TEST_F(ClusterRouting, AnAttemptInDoubtIsUndoneAtItsNode) {
    client hasty{set.url() + "?command_timeout=200ms"};
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const auto lock_name = name_at(node);
        auto& silent = set.owner_of(slot_of_lock(lock_name));
        const mutex lock{hasty, lock_name, lasting(60s)};
        EXPECT_TRUE(lock.try_acquire());  // and with it, connections
        silent.freeze();
        const auto failure = thrown_by([&] { static_cast<void>(lock.try_acquire()); });
        silent.resume();
        ASSERT_TRUE(failure);
        EXPECT_TRUE(failure->in_doubt());
        auto raw = silent.raw();
        EXPECT_TRUE(eventually(5s, [&] { return raw.calls("eval") > 0; })) << node;  // the undoing, by its whole text
        EXPECT_TRUE(eventually(5s, [&] { return raw.exists("lock:" + lock_name) == 0; })) << node;
    }
}

TEST_F(ClusterRouting, ADeferredReleaseFollowsItsSlot) {
    auto options = lasting(20s);
    options.release = release_mode::deferred;
    const auto lock_name = name_at(2);
    const mutex lock{redis, lock_name, options};
    auto held = lock.acquire();
    move_elsewhere(slot_of_lock(lock_name));
    held.release();
    client other{url};
    EXPECT_TRUE(mutex(other, lock_name).try_acquire_for(5s));
}

TEST_F(ClusterRouting, AClientThatEndsEndsItsWaits) {
    const auto lock_name = name_at(1);
    auto held = mutex{redis, lock_name, lasting(20s)}.acquire();
    auto mine = std::make_unique<client>(url);
    const mutex lock{*mine, lock_name, lasting(20s)};
    std::optional<error> failure;
    std::jthread waiter{[&] { failure = thrown_by([&] { static_cast<void>(lock.acquire()); }); }};
    EXPECT_TRUE(
        eventually(5s, [&] { return set.owner_of(slot_of_lock(lock_name)).raw().info("blocked_clients") == "1"; }));
    mine.reset();
    waiter.join();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), errc::stopped);
}

TEST(ClusterRoutingRefusal, OfAServerWithoutClusterSaysSo) {
    redis_server alone;
    client redis{"redis-cluster://" + alone.tcp().text()};
    const auto failure = thrown_by([&] { redis.command("GET", "a"); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), errc::server);
    EXPECT_THAT(failure->text(), HasSubstr("no node of a Cluster"));
    // And is no state that passes by itself.
    const stopwatch since;
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(mutex{redis, "a"}.try_acquire_for(20s)); }));
    EXPECT_LT(since.elapsed(), 5s);
}

TEST(ClusterRoutingRefusal, OfNobodyIsAConnectionThatFailed) {
    std::uint16_t gone = 0;
    {
        redis_server short_lived;
        gone = short_lived.port();
    }
    client redis{"redis-cluster://127.0.0.1:" + std::to_string(gone)};
    const auto failure = thrown_by([&] { redis.command("GET", "a"); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), errc::connect_failed);
}

[[nodiscard]] std::string all_slots_at(std::uint16_t port) {
    return "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + std::to_string(port) + "\r\n";
}

/// Knows all slots to be its own, and answers `word` to everything else.
[[nodiscard]] testing::answering liar(std::uint16_t port, const std::string& word) {
    return testing::after_handshake([=](const testing::seen_command& seen) {
        return testing::fake_answer{testing::named("CLUSTER")(seen) ? all_slots_at(port) : word};
    });
}

TEST(ClusterRoutingRefusal, TheMapIsNotAskedForInAHurry) {
    std::uint16_t gone = 0;
    {
        redis_server short_lived;
        gone = short_lived.port();
    }
    testing::fake_server server{testing::after_handshake(testing::always(all_slots_at(gone)))};
    client redis{"redis-cluster://127.0.0.1:" + std::to_string(server.where().port)};
    const stopwatch since;
    EXPECT_TRUE(eventually(20s, [&] {
        EXPECT_TRUE(thrown_by([&] { redis.command("GET", "a"); }));
        return since.elapsed() > 300ms && server.commands(testing::named("CLUSTER")) >= 3;
    }));
    EXPECT_LE(server.commands(testing::named("CLUSTER")),
              static_cast<std::size_t>(since.elapsed_ms().count()) / 50 + 2);
}

TEST(ClusterRoutingRefusal, ARedirectionInACircleEnds) {
    testing::fake_server server{testing::never_answering()};
    const auto port = server.where().port;
    for (const std::string word : {"MOVED", "ASK"}) {
        server.answer_with(liar(port, "-" + word + " 15495 127.0.0.1:" + std::to_string(port) + "\r\n"));
        client redis{"redis-cluster://127.0.0.1:" + std::to_string(port)};
        const auto asked = server.commands(testing::named("GET"));
        const auto failure = thrown_by([&] { redis.command("GET", "a"); });
        ASSERT_TRUE(failure) << word;
        EXPECT_EQ(failure->code(), errc::try_again);
        EXPECT_EQ(server.commands(testing::named("GET")) - asked, 1u + 5u) << word;
    }
}

TEST(ClusterRoutingRefusal, NonsenseIsNotFollowed) {
    testing::fake_server server{testing::never_answering()};
    const auto port = server.where().port;
    for (const auto* const word :
         {"-MOVED\r\n", "-MOVED 1\r\n", "-MOVED 99999 127.0.0.1:1\r\n", "-MOVED 1 127.0.0.1:0\r\n", "-ASK x y:z\r\n"}) {
        server.answer_with(liar(port, word));
        client redis{"redis-cluster://127.0.0.1:" + std::to_string(port)};
        const auto asked = server.commands(testing::named("GET"));
        EXPECT_TRUE(thrown_by([&] { redis.command("GET", "a"); })) << word;
        EXPECT_EQ(server.commands(testing::named("GET")) - asked, 1u) << word;
    }
    for (const auto* const map :
         {"*0\r\n", "*1\r\n*0\r\n", "+OK\r\n", "$-1\r\n", "*1\r\n*3\r\n:0\r\n:99999\r\n:1\r\n"}) {
        server.answer_with(testing::after_handshake(testing::always(map)));
        client redis{"redis-cluster://127.0.0.1:" + std::to_string(port)};
        EXPECT_TRUE(thrown_by([&] { redis.command("GET", "a"); })) << map;
        EXPECT_EQ(server.commands(testing::named("GET")), 5u) << map;
    }
}

}  // namespace
}  // namespace tranca::cluster_test
