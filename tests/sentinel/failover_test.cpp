// The master is replaced: killed, frozen, demoted by an operator. Who waits goes on, who holds keeps what the next master
// has, and is told of the loss of what it has not.
#include <functional>
#include <sstream>
#include <thread>
#include <vector>

#include "sentinel/sentinel_fixture.hpp"
#include "support/fake_server.hpp"
#include "support/replica_pair.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::sentinel_test {
namespace {

using testing::redis_server;

constexpr std::string_view lock_key = "lock:thing";

[[nodiscard]] mutex_options lasting(milliseconds ttl) {
    mutex_options made;
    made.lease.ttl = ttl;
    return made;
}

/// One way to lose a master; `begin` returns at once, `end` after the next one is there.
struct way {
    std::string name;
    std::function<void(sentinel_set&, redis_server&)> begin;
};

const way& killed() {
    static const way it{"Killed", [](sentinel_set&, redis_server& master) { master.kill_hard(); }};
    return it;
}
const way& frozen() {
    static const way it{"Frozen", [](sentinel_set&, redis_server& master) { master.freeze(); }};
    return it;
}
const way& replaced() {
    static const way it{"Replaced", [](sentinel_set& set, redis_server&) { set.fail_over(); }};
    return it;
}

class Failover : public sentinel_fixture, public ::testing::WithParamInterface<way> {
protected:
    /// The master goes; returns the next one once it is there.
    redis_server& lose_the_master() {
        const auto old = set.master_port();
        GetParam().begin(set, set.server_at(old));
        return set.wait_for_another_master(old);
    }
};

TEST_P(Failover, IsFollowedByTheNextCommands) {
    client redis{url};
    redis.command("PING");
    lose_the_master();
    EXPECT_TRUE(eventually(10s, [&] {
        return !thrown_by([&] { redis.command("SET", "probe", "1"); }) && redis.server().port == set.master_port();
    }));
    EXPECT_TRUE(eventually(10s, [&] { return at_master([](auto& raw) { return raw.exists("probe"); }) == 1; }));
}

TEST_P(Failover, IsOutlivedByAHolderOfWhatTheNextMasterHas) {
    client redis{url};
    auto held = mutex{redis, "thing", lasting(12s)}.acquire();
    const auto told = held.lost();
    set.wait_in_sync();
    lose_the_master();
    const auto first = held.safe_until();
    ASSERT_TRUE(eventually(20s, [&] { return held.safe_until() > first || told.stop_requested(); }));
    EXPECT_FALSE(told.stop_requested());
    EXPECT_TRUE(held);
    // Renewed there, not only copied.
    EXPECT_TRUE(eventually(10s, [&] { return at_master([](auto& raw) { return raw.pttl(lock_key); }) > 9'000; }));
    EXPECT_TRUE(eventually(10s, [&] { return held.release() != release_result::unknown; }));
    EXPECT_TRUE(eventually(10s, [&] { return at_master([](auto& raw) { return raw.exists(lock_key); }) == 0; }));
}

TEST_P(Failover, IsToldToAHolderOfWhatTheNextMasterHasNot) {
    client redis{url};
    auto held = mutex{redis, "thing", lasting(12s)}.acquire();
    const auto told = held.lost();
    const auto until = held.safe_until();
    set.wait_in_sync();
    lose_the_master();
    EXPECT_TRUE(eventually(20s, [&] {
        static_cast<void>(at_master([](auto& raw) { return raw.del(lock_key); }));  // as if it had never come there
        return told.stop_requested();
    }));
    EXPECT_FALSE(held);
    EXPECT_LT(clock::now(), until);  // by the answer, not by the time
    EXPECT_TRUE(mutex(redis, "thing", lasting(2s)).try_acquire());
}

TEST_P(Failover, IsOutlivedByAWait) {
    client redis{url};
    const client other{url};
    auto held = mutex{other, "thing", lasting(20s)}.acquire();
    set.wait_in_sync();
    std::optional<guard> got;
    std::optional<error> failure;
    std::jthread waiter{[&] {
        failure = thrown_by([&] { got = mutex{redis, "thing", lasting(20s)}.try_acquire_for(60s); });
    }};
    auto master = set.master().raw();
    ASSERT_TRUE(eventually(10s, [&] { return master.info("blocked_clients") == "1"; }));
    lose_the_master();
    EXPECT_TRUE(eventually(10s, [&] { return held.release() != release_result::unknown; }));
    waiter.join();
    EXPECT_FALSE(failure) << failure->what();
    ASSERT_TRUE(got);
    EXPECT_TRUE(*got);
    EXPECT_EQ(got->release(), release_result::released);
}

// From the moment of the loss on, with no connection to begin with.
TEST_P(Failover, IsOutlivedByAWaitThatBeginsInTheMiddle) {
    client redis{url};
    redis.command("PING");
    const auto old = set.master_port();
    GetParam().begin(set, set.server_at(old));
    auto got = mutex{redis, "thing"}.try_acquire_for(60s);
    ASSERT_TRUE(got);
    EXPECT_TRUE(got->extend());
    set.wait_for_another_master(old);
}

TEST_P(Failover, IsOutlivedByAPermit) {
    client redis{url};
    permit_options options;
    options.lease.ttl = 12s;
    const semaphore places{redis, "places", 2, options};
    auto one = places.acquire();
    auto two = places.acquire();
    const auto told = one.lost();
    set.wait_in_sync();
    lose_the_master();
    const auto first = one.safe_until();
    EXPECT_TRUE(eventually(20s, [&] { return one.safe_until() > first; }));
    EXPECT_FALSE(told.stop_requested());
    EXPECT_FALSE(places.try_acquire());
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_TRUE(places.try_acquire_for(10s));
}

INSTANTIATE_TEST_SUITE_P(By, Failover, ::testing::Values(killed(), frozen(), replaced()),
                         [](const auto& shown) { return shown.param.name; });

using FailoverEnds = sentinel_fixture;

// A demoted master lives on, and says READONLY to whoever stays with it.
TEST_F(FailoverEnds, WithNoConnectionLeftToTheOldMaster) {
    client redis{url};
    const auto old = set.master_port();
    {
        std::vector<std::jthread> crew;  // so many connections in the pool
        for (int i = 0; i < 8; ++i)
            crew.emplace_back([&] { redis.command("BLPOP", "nothing", "0.2"); });
    }
    set.fail_over();
    set.wait_for_another_master(old);
    EXPECT_TRUE(eventually(20s, [&] { return set.role_of(old) == "slave"; }));
    EXPECT_TRUE(eventually(10s, [&] { return !thrown_by([&] { redis.command("SET", "probe", "1"); }); }));
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(redis.command("SET", "probe", "2").text(), "OK");
    const auto mine = [&] {
        std::int64_t count = 0;
        std::istringstream lines{set.server_at(old).must({"CLIENT", "LIST", "TYPE", "normal"}).text};
        for (std::string line; std::getline(lines, line);)
            count += line.find("cmd=blpop") != std::string::npos || line.find("cmd=set ") != std::string::npos;
        return count;
    };
    EXPECT_TRUE(eventually(5s, [&] { return mine() == 0; }));
}

// A master that an operator replaces goes on for a while as if nothing had happened: the sentinels know better.
TEST(FailoverByHand, IsNoticedWithoutAnyFailure) {
    testing::redis_server one;
    testing::redis_server other;
    testing::fake_server sentinel{testing::always(naming(one.port()))};
    auto where = one_sentinel(sentinel.where().port);
    where.check_every = 50ms;
    client redis{where};
    auto foreign = mutex{client{one.url()}, "thing"}.acquire();
    std::optional<guard> got;
    std::jthread waiter{[&] { got = mutex{redis, "thing"}.try_acquire_for(30s); }};
    EXPECT_TRUE(eventually(10s, [&] { return one.raw().info("blocked_clients") == "1"; }));
    sentinel.answer_with(testing::always(naming(other.port())));
    waiter.join();
    ASSERT_TRUE(got);
    EXPECT_EQ(redis.server().port, other.port());
    EXPECT_EQ(other.raw().exists(lock_key), 1);
    EXPECT_TRUE(foreign);
    // What it holds is looked for there, too.
    sentinel.answer_with(testing::always(naming(one.port())));
    EXPECT_TRUE(eventually(
        10s, [&] { return redis.command("EXISTS", lock_key).integer() == 1 && redis.server().port == one.port(); }));
    EXPECT_FALSE(got->extend());
}

// The old master lives on behind a network that carries nothing any more, and takes itself for the master all the time.
TEST(FailoverByHand, IsFollowedOverAPartition) {
    testing::replica_pair pair;
    testing::tcp_gate way{pair.master().tcp()};
    testing::fake_server sentinel{testing::always(naming(way.where().port))};
    auto where = one_sentinel(sentinel.where().port);
    where.server.command_timeout = 300ms;
    where.server.connect_timeout = 300ms;
    client redis{where};
    auto held = mutex{redis, "thing", lasting(9s)}.acquire();
    const auto told = held.lost();
    pair.wait_in_sync();
    pair.stop_replication();  // and so promoted
    way.black_hole(testing::direction::to_server);
    way.black_hole(testing::direction::to_client);
    sentinel.answer_with(testing::always(naming(pair.replica().port())));
    std::optional<guard> other;
    std::jthread waiter{[&] { other = mutex{redis, "other"}.try_acquire_for(30s); }};
    const auto first = held.safe_until();
    EXPECT_TRUE(eventually(20s, [&] { return held.safe_until() > first || told.stop_requested(); }));
    EXPECT_FALSE(told.stop_requested());
    waiter.join();
    EXPECT_TRUE(other);
    way.pass();  // what was under way arrives there now, and is nobody's concern
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(pair.replica().raw().exists(lock_key), 0);
    EXPECT_EQ(redis.server().port, pair.replica().port());
}

// A sentinel that is silent or does not know is no reason to leave a master that answers.
TEST(FailoverByHand, IsNotSeenInASilentSentinel) {
    testing::redis_server one;
    testing::fake_server sentinel{testing::always(naming(one.port()))};
    auto where = one_sentinel(sentinel.where().port);
    where.check_every = 1ms;
    where.sentinel_timeout = 50ms;
    client redis{where};
    // Nothing but the sentinel leads there at first, and its time is short.
    EXPECT_TRUE(eventually(5s, [&] { return !thrown_by([&] { redis.command("PING"); }); }));
    for (const auto& answer : {testing::never_answering(), testing::closing(testing::ending::reset), testing::garbage(),
                               testing::always("*-1\r\n"), testing::always_error("IDONTKNOW yet")}) {
        sentinel.answer_with(answer);
        const auto asked = sentinel.commands().size();
        EXPECT_TRUE(eventually(5s, [&] {
            EXPECT_EQ(redis.command("PING").text(), "PONG");
            return sentinel.commands().size() > asked;
        }));
        EXPECT_EQ(redis.command("PING").text(), "PONG");
    }
}

// Demoted by hand, its connections not killed: READONLY is the only sign, and one is enough.
TEST(FailoverByHand, IsNoticedByTheFirstReadonly) {
    testing::replica_pair pair;
    testing::fake_server sentinel{testing::always(naming(pair.master().port()))};
    auto never_checked = one_sentinel(sentinel.where().port);
    never_checked.check_every = 0ms;  // it would find out by itself
    client redis{never_checked};
    {
        std::vector<std::jthread> crew;  // so many connections in the pool
        for (int i = 0; i < 4; ++i)
            crew.emplace_back([&] { redis.command("BLPOP", "nothing", "0.2"); });
    }
    EXPECT_TRUE(eventually(5s, [&] { return sentinel.connections_open() == 0; }));
    auto held = mutex{redis, "thing"}.acquire();
    pair.wait_in_sync();
    pair.switch_over();
    sentinel.answer_with(testing::always(naming(pair.replica().port())));
    const auto refused = thrown_by([&] { redis.command("SET", "probe", "1"); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason(), errc::read_only);
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(redis.command("SET", "probe", "2").text(), "OK");
    EXPECT_EQ(redis.server().port, pair.replica().port());
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
}

// N03: who extends and releases at the moment of the switch is served by the next master, and told of no loss.
TEST(FailoverByHand, IsHiddenFromAHolder) {
    testing::replica_pair pair;
    testing::fake_server sentinel{testing::always(naming(pair.master().port()))};
    client redis{one_sentinel(sentinel.where().port)};
    const mutex lock{redis, "thing"};
    auto held = lock.acquire();
    pair.wait_in_sync();
    pair.switch_over();
    sentinel.answer_with(testing::always(naming(pair.replica().port())));
    EXPECT_TRUE(held.extend());
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(pair.replica().raw().exists(lock_key), 0);
    EXPECT_TRUE(lock.try_acquire());
}

// A frozen master that wakes up after its replacement is not taken back.
TEST_F(FailoverEnds, WithTheOldMasterAsAReplica) {
    client redis{url};
    const mutex lock{redis, "thing"};
    auto held = lock.acquire();
    const auto first = *held.fence();
    held.release();
    set.wait_in_sync();
    const auto old = set.master_port();
    set.server_at(old).freeze();
    set.wait_for_another_master(old);
    auto again = lock.try_acquire_for(30s);
    ASSERT_TRUE(again);
    EXPECT_GT(*again->fence(), first);
    set.server_at(old).resume();
    EXPECT_TRUE(eventually(30s, [&] { return set.role_of(old) == "slave"; }));
    EXPECT_TRUE(again->extend());
    EXPECT_NE(redis.server().port, old);
    EXPECT_EQ(again->release(), release_result::released);
}

}  // namespace
}  // namespace tranca::sentinel_test
