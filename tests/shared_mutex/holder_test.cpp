// Who holds beside whom, and each holder's own time: what a crash costs, and what neither a contender nor a late holder can
// do. Cases A01, A02, A17, B01, L01, S01, S03, S05, S07, S09, S10, S13, W09.
#include <memory>

#include "shared_mutex/shared_fixture.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"
#include "support/process_barrier.hpp"
#include "support/shared_memory.hpp"
#include "support/tcp_gate.hpp"
#include "thrown_by.hpp"

namespace tranca::shared_mutex_test {
namespace {

class Readers : public shared_fixture {};

TEST_F(Readers, ShareAndKeepAWriterOutUntilTheLastLeaves) {
    auto first = readers.acquire();
    auto second = readers.try_acquire();
    ASSERT_TRUE(second);
    EXPECT_TRUE(first && *second);
    EXPECT_EQ(holders(), 2);
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_EQ(first.release(), release_result::released);
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_EQ(second->release(), release_result::released);
    EXPECT_EQ(raw.exists(main_key), 0);
    EXPECT_TRUE(lock.try_acquire());
}

TEST_F(Readers, AreKeptOutByAWriterAlone) {
    auto writer = lock.acquire();
    EXPECT_FALSE(readers.try_acquire());
    EXPECT_FALSE(readers.try_acquire_for(20ms));
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_EQ(holders(), 1);
    EXPECT_EQ(writer.release(), release_result::released);
    EXPECT_TRUE(readers.try_acquire());
}

// Whenever within a millisecond of the server's clock the lease begins.
TEST_F(Readers, AreKeptOutByALeaseOfAMillisecond) {
    const auto brief = lock_for(1ms);
    for (int round = 0; round < 1'000; ++round) {
        std::optional<guard> writer;
        std::optional<guard> reader;
        // An answer may come too late.
        static_cast<void>(testing::thrown_by([&] { writer = brief.try_acquire(); }));
        static_cast<void>(testing::thrown_by([&] { reader = readers.try_acquire(); }));
        ASSERT_FALSE(writer && reader && *writer) << round;
    }
}

TEST_F(Readers, OutliveTheLockTheyCameFrom) {
    const auto side = shared_mutex{redis, "thing"}.shared();
    auto held = side.acquire();
    EXPECT_TRUE(held);
    EXPECT_EQ(side.main_key(), key{main_key});
    EXPECT_EQ(held.release(), release_result::released);
}

// S03: each was killed, and each one's time runs out by itself.
TEST_F(Readers, ThatWereKilledKeepAWriterOutForTheirTtl) {
    testing::shared_memory<testing::process_barrier> inside{4u};
    std::vector<std::unique_ptr<testing::child_process>> dead;
    for (int i = 0; i < 3; ++i)
        dead.push_back(std::make_unique<testing::child_process>([&] {
            const client own{server.url()};
            const auto held = shared_mutex{own, "thing", {.lease = {.ttl = 1s}}}.shared().acquire();
            static_cast<void>(inside->wait(patience));
            std::this_thread::sleep_for(patience);  // until it is killed
        }));
    ASSERT_TRUE(inside->wait(patience));
    EXPECT_FALSE(lock.try_acquire());
    for (const auto& each : dead)
        each->kill_hard();
    const stopwatch since_the_kill;
    EXPECT_TRUE(readers.try_acquire());  // they keep out no reader
    EXPECT_TRUE(lock.try_acquire_for(patience));
    EXPECT_LT(since_the_kill.elapsed(), 1500ms);
}

TEST_F(Readers, ThatDiedCostNothingBeyondTheirOwnTime) {
    lock_for(1s).shared().acquire().abandon();
    auto alive = readers.acquire();
    ASSERT_TRUE(eventually(patience, [&] { return lock.holders().size() == 1; }));
    EXPECT_EQ(holders(), 2);  // nobody has looked since
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(1));
    alive.release();
    EXPECT_TRUE(writer.granted_within(400ms));
}

// The last one alive to leave wakes the writer, though a dead one is still in the books.
TEST_F(Readers, ThatDiedWhileAWriterSleepsDoNotKeepItAsleep) {
    readers.acquire().abandon();
    const auto dead = token_of_the_first();
    auto alive = readers.acquire();
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(1));
    raw.must({"HSET", main_key, "first", "1", dead, "1|1|0|me"});
    EXPECT_EQ(alive.release(), release_result::released);
    EXPECT_TRUE(writer.granted_within(400ms));
}

// A02, S09: whatever ttl those have who come after it, granted or not.
TEST_F(Readers, KeepTheirTimeWhoeverComes) {
    const auto held = lock_for(60s).shared().acquire();
    const auto token = token_of_the_first();
    const auto before = entry(token);
    {
        const auto brief = lock_for(50ms).shared().acquire();
        EXPECT_FALSE(lock_for(10ms).try_acquire());
        EXPECT_FALSE(lock_for(10ms).try_acquire_for(30ms));
    }
    lock_for(50ms).shared().acquire().abandon();
    EXPECT_TRUE(throughout(100ms, [&] { return !lock_for(50ms).try_acquire(); }));
    EXPECT_EQ(entry(token), before);
    EXPECT_EQ(holders(), 1);
    EXPECT_GT(raw.pttl(main_key), 50'000);
    EXPECT_TRUE(held);
}

// S13.
TEST_F(Readers, ThatRenewAreNeverThrownOut) {
    const shared_mutex brief{redis, "thing", {.lease = {.ttl = 900ms}}};
    const auto first = brief.shared().acquire();
    const auto second = brief.shared().acquire();
    std::atomic<int> admitted{0};
    {
        std::vector<std::jthread> contenders;
        for (int i = 0; i < 8; ++i)
            contenders.emplace_back([&] { admitted += brief.try_acquire_for(1500ms) ? 1 : 0; });
    }
    EXPECT_EQ(admitted, 0);
    EXPECT_TRUE(first && second);
    EXPECT_EQ(brief.holders().size(), 2u);
}

class SharedHolder : public shared_fixture {};

// S01: the ends are the server's time: a client's clock has no part in them.
TEST_F(SharedHolder, EndsByTheClockOfTheServer) {
    const auto before = server_time();
    const auto held = lock_for(60s).shared().acquire();
    const auto after = server_time();
    const auto end = std::stoll(entry(token_of_the_first()));
    EXPECT_GE(end, before + 60'000);
    EXPECT_LE(end, after + 60'000);
}

// The server counts whole milliseconds: it takes none of them from a holder's time.
TEST_F(SharedHolder, BelievesForNoLongerThanTheServerDoes) {
    const shared_mutex brief{redis, "thing", {.lease = {.ttl = 15ms, .renew_every = 0ms, .margin = 0ms}}};
    for (int round = 0; round < 40; ++round) {
        const auto held = round % 2 == 0 ? brief.shared().acquire() : brief.acquire();
        std::optional<guard> next;
        while (!next)
            next = lock.try_acquire();
        EXPECT_FALSE(held);
    }
}

// B01, S05.
TEST_F(SharedHolder, ThatIsLateReleasesNobodyElse) {
    for (const bool as_reader : {true, false}) {
        auto late = as_reader ? readers.acquire() : lock.acquire();
        let_lapse();
        auto next = lock.acquire();
        EXPECT_EQ(late.release(), release_result::taken);
        EXPECT_FALSE(readers.try_acquire());
        EXPECT_TRUE(next.extend());
    }
    auto late = lock.acquire();
    let_lapse();
    const auto one = readers.acquire();
    EXPECT_EQ(late.release(), release_result::expired);
    EXPECT_EQ(holders(), 1);
    EXPECT_FALSE(lock.try_acquire());
}

TEST_F(SharedHolder, ThatIsLateIsNotToldThatItReleased) {
    auto late = readers.acquire();
    let_lapse();
    EXPECT_EQ(late.release(), release_result::expired);  // nobody has come since, and still it was over
    EXPECT_EQ(raw.exists(main_key), 0);
}

// S10.
TEST_F(SharedHolder, ThatIsLostIsNeverInsertedAgain) {
    for (const bool as_reader : {true, false}) {
        auto lost = as_reader ? readers.acquire() : lock.acquire();
        raw.del(main_key);
        const auto next = readers.acquire();
        for (int i = 0; i < 20; ++i) {
            EXPECT_FALSE(lost.extend());
            EXPECT_EQ(holders(), 1);
        }
        EXPECT_TRUE(next);
    }
}

TEST_F(SharedHolder, WhoseTimeIsOverIsNotRefreshedThoughNobodyCame) {
    auto late = readers.acquire();
    let_lapse();
    EXPECT_FALSE(late.extend());
    EXPECT_FALSE(late);
    EXPECT_TRUE(lock.try_acquire());
}

// A01, W09.
TEST_F(SharedHolder, LeavesNothingForEver) {
    const auto all_have_a_ttl = [&] {
        for (const auto& name : raw.keys())
            EXPECT_GT(raw.pttl(name), 0) << name;
    };
    {
        auto held = lock_for(1s).shared().acquire();
        auto longer = lock_for(300s).shared().acquire();
        all_have_a_ttl();
        EXPECT_FALSE(lock.try_acquire_for(20ms));
        EXPECT_FALSE(lock.try_upgrade_for(held, 20ms) == upgrade_result::upgraded);
        EXPECT_TRUE(held.extend());
        all_have_a_ttl();
        EXPECT_GT(raw.pttl(main_key), 290'000);
    }
    { const auto writer = lock.acquire(); }
    all_have_a_ttl();
    EXPECT_EQ(raw.exists(main_key), 0);
    EXPECT_TRUE(eventually(4s, [&] { return raw.keys() == std::vector<std::string>{state_key}; }))
        << ::testing::PrintToString(raw.keys());
    EXPECT_LE(raw.pttl(state_key), 86'400'000 + 1'000);
    // A lease longer than the state's own day keeps the state as well.
    const auto century = lock_for(longest_duration).shared().acquire();
    EXPECT_GT(raw.pttl(state_key), longest_duration.count() - 10'000);
}

TEST_F(SharedHolder, WhoseAnswerWasLostFindsItselfAndItsFence) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=200ms"};
    for (const bool as_reader : {true, false}) {
        const shared_mutex far{through, "thing", lasting(10s)};
        const auto acquire = [&] { return as_reader ? far.shared().try_acquire_for(5s) : far.try_acquire_for(5s); };
        acquire()->release();
        gate.swallow_reply("EVALSHA", testing::ending::reset);
        auto held = acquire();
        ASSERT_TRUE(held);
        const auto listed = lock.holders();
        ASSERT_EQ(listed.size(), 1u);
        EXPECT_EQ(listed[0].fence, held->fence());
        EXPECT_EQ(held->release(), release_result::released);
        EXPECT_EQ(raw.exists(main_key), 0);
    }
}

TEST_F(SharedHolder, OfAFlushedServerHasLostIt) {
    auto reader = readers.acquire();
    raw.flush();
    auto writer = lock.acquire();
    EXPECT_FALSE(reader.extend());
    EXPECT_EQ(reader.release(), release_result::taken);
    raw.flush();
    EXPECT_FALSE(writer.extend());
    EXPECT_EQ(writer.release(), release_result::expired);
}

// The holders stand in one key: what an eviction of the other costs is a number of one's own.
TEST_F(SharedHolder, OfAStateThatIsGoneStillHolds) {
    auto first = readers.acquire();
    raw.del(state_key);
    EXPECT_FALSE(lock.try_acquire());
    auto second = readers.acquire();
    EXPECT_GT(*second.fence(), *first.fence());
    EXPECT_TRUE(first.extend());
    EXPECT_EQ(first.release(), release_result::released);
    EXPECT_EQ(second.release(), release_result::released);
    EXPECT_TRUE(lock.try_acquire());
}

// S07.
TEST_F(SharedHolder, IsListedForPeopleUntilItsTimeIsOver) {
    EXPECT_TRUE(lock.holders().empty());
    const shared_mutex labelled{redis, "thing", {.lease = {.ttl = 20s}, .label = "a|label|with bars"}};
    {
        const auto one = labelled.shared().acquire();
        const auto two = readers.acquire();
        const auto all = lock.holders();
        ASSERT_EQ(all.size(), 2u);
        const auto& mine = all[0].label == "me" ? all[1] : all[0];
        EXPECT_EQ(mine.label, "a|label|with bars");
        EXPECT_EQ(mine.mode, lock_mode::shared);
        EXPECT_EQ(mine.fence, one.fence());
        EXPECT_GT(mine.remaining, 15s);
        EXPECT_LE(mine.remaining, 20s);
        let_lapse();
        EXPECT_TRUE(lock.holders().empty());
        EXPECT_EQ(holders(), 2);  // looking changes nothing
    }
    const auto writer = lock.acquire();
    ASSERT_EQ(lock.holders().size(), 1u);
    EXPECT_EQ(lock.holders()[0].mode, lock_mode::exclusive);
}

TEST_F(SharedHolder, OfABadLabelIsRefusedBeforeAnythingIsSent) {
    const client nowhere{"redis://127.0.0.1:1"};
    EXPECT_EQ(reason_of([&] { shared_mutex(nowhere, "thing", {.label = std::string(201, 'x')}); }),
              errc::invalid_argument);
    EXPECT_EQ(reason_of([&] { shared_mutex(nowhere, "x{"); }), errc::invalid_argument);
}

// An account with the rights of the header, and no others, gets all done.
TEST_F(SharedHolder, NeedsNoMoreRightsThanDocumented) {
    const auto user = testing::rights(
        server,
        {"~lock:*", "~{lock:*", "+eval",        "+evalsha",        "+script|load", "+time", "+hmget",   "+hgetall",
         "+hset",   "+hdel",    "+hlen",        "+exists",         "+del",         "+pttl", "+pexpire", "+llen",
         "+lpush",  "+blpop",   "+client|info", "+client|unblock", "+client|kill"});
    const client limited{user.url()};
    const shared_mutex narrow{limited, "thing", lasting(10s)};
    shared_mutex{limited, "thing", lasting(50ms)}.acquire().abandon();
    auto held = narrow.shared().try_acquire_for(patience);  // after a walk through the holders
    ASSERT_TRUE(held);
    EXPECT_FALSE(narrow.try_acquire_for(50ms));  // a claim, and its end
    waiter writer{user.url(), waiter::writer()};
    ASSERT_TRUE(asleep(1));
    EXPECT_EQ(narrow.try_upgrade_for(*held, 1s), upgrade_result::upgraded);
    EXPECT_TRUE(narrow.downgrade(*held));
    EXPECT_TRUE(held->extend());
    EXPECT_EQ(narrow.holders().size(), 1u);
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_TRUE(writer.granted_within(400ms));
}

class SharedName : public shared_fixture {};

// A17: who uses a name for two kinds of locks is told so, and neither harms the other.
TEST_F(SharedName, IsNotTakenFromAMutexOrASemaphore) {
    const mutex other{redis, "thing"};
    const semaphore third{redis, "thing", 1, {.prefix = "lock:"}};
    const auto refuses = [&](const auto& primitive) {
        return reason_of([&] { static_cast<void>(primitive.try_acquire()); }) == errc::wrong_type;
    };
    {
        const auto held = other.acquire();
        EXPECT_TRUE(refuses(lock));
        EXPECT_TRUE(refuses(readers));
        EXPECT_TRUE(held);
    }
    {
        auto held = readers.acquire();
        EXPECT_TRUE(refuses(other));
        EXPECT_TRUE(refuses(third));
        EXPECT_EQ(held.release(), release_result::released);
    }
    raw.flush();
    {
        const auto held = third.acquire();
        EXPECT_TRUE(refuses(lock));
        EXPECT_EQ(reason_of([&] { static_cast<void>(readers.try_acquire_for(50ms)); }), errc::wrong_type);
        EXPECT_EQ(third.available(), 0);
    }
}

TEST_F(SharedName, OfAHashOfDataIsNotTaken) {
    raw.must({"HSET", main_key, "colour", "red"});
    EXPECT_EQ(reason_of([&] { static_cast<void>(lock.try_acquire()); }), errc::wrong_type);
    EXPECT_EQ(reason_of([&] { static_cast<void>(readers.try_acquire()); }), errc::wrong_type);
    EXPECT_EQ(raw.must({"HGET", main_key, "colour"}).text, "red");
    EXPECT_EQ(fields(), 1);
}

// L01.
TEST_F(SharedName, OfANeighbourIsALockOfItsOwn) {
    std::vector<guard> all;
    all.push_back(lock.acquire());
    for (const std::string other : {"thing:state", "thing:write", "thing:read", "thing:upgrade", "{thing}"})
        all.push_back(shared_mutex{redis, other}.acquire());
    all.push_back(shared_mutex{redis, "thing", {.prefix = "mine:"}}.acquire());
    all.push_back(semaphore{redis, "thing", 1}.acquire());
    for (auto& each : all)
        EXPECT_EQ(each.release(), release_result::released);
}

}  // namespace
}  // namespace tranca::shared_mutex_test
