// A wait goes on over what happens to holders, to other waiters and to the server. Cases W02, W12, W14, W16.
#include "shared_mutex/shared_fixture.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"

namespace tranca::shared_mutex_test {
namespace {

class SharedFaults : public shared_fixture {};

// W02: an expiry wakes nobody; every waiter has a timer of its own for it.
TEST_F(SharedFaults, OfAHolderThatDiesAreNoticedAtItsEnd) {
    for (const bool dead_reader : {true, false})
        for (const bool as_reader : {true, false}) {
            const auto brief = lock_for(400ms);
            (dead_reader ? brief.shared().acquire() : brief.acquire()).abandon();
            const stopwatch since_then;
            auto next = as_reader ? readers.try_acquire_for(patience) : lock.try_acquire_for(patience);
            ASSERT_TRUE(next);
            EXPECT_LT(since_then.elapsed(), 900ms);
            EXPECT_TRUE((dead_reader && as_reader) || since_then.elapsed() >= 350ms);
            next.reset();
            EXPECT_TRUE(lock.try_acquire_for(patience));
        }
}

// A dead writer's end is found out by a reader that a waiting writer keeps out: that one is woken for it.
TEST_F(SharedFaults, FoundOutByOneWakeWhoIsNext) {
    lock_for(10s).acquire().abandon();
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(1));
    let_lapse();
    EXPECT_FALSE(readers.try_acquire());
    EXPECT_TRUE(writer.granted_within(400ms));
}

// W16: the wake-up goes to one that stands still; the next looks by itself, within its slice.
TEST_F(SharedFaults, OfAFrozenWaiterCostASlice) {
    auto held = readers.acquire();
    testing::child_process frozen{[&] {
        const client own{server.url()};
        const auto mine = shared_mutex{own, "thing", lasting(500ms)}.acquire();
        EXPECT_FALSE(mine && mine.safe_until() < clock::now());
    }};
    ASSERT_TRUE(asleep(1));
    frozen.freeze();
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(2));
    held.release();
    EXPECT_TRUE(writer.granted_within(2500ms));
    writer.end();
    frozen.resume();
    EXPECT_EQ(frozen.wait(patience), testing::exited(0));
    EXPECT_TRUE(readers.try_acquire_for(patience));
}

// W12: as many wait as there are connections to be had, and renewal and release still go through.
TEST_F(SharedFaults, OfACrowdOnOneClientLeaveItsHolderAlone) {
    const shared_mutex renewed{redis, "thing", {.lease = {.ttl = 900ms}}};
    auto held = renewed.acquire();
    std::atomic<int> done{0};
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 16; ++i)
        crowd.emplace_back([&, as_reader = i % 2 == 0] {
            const auto mine = as_reader ? renewed.shared().acquire() : renewed.acquire();
            ++done;
        });
    ASSERT_TRUE(asleep(16));
    EXPECT_TRUE(throughout(1100ms, [&] { return !!held && done == 0; }));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(eventually(5s, [&] { return done == 16; }));
}

// W14: the server ends the block with -UNBLOCKED, and refuses what came with it.
TEST_F(SharedFaults, OfARoleThatChangesAreWaitedOut) {
    auto held = lock_for(60s).acquire();
    waiter reader{server.url(), waiter::reader()};
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(2));
    auto demoted = testing::demoted(server);
    EXPECT_TRUE(throughout(300ms, [&] { return !reader.done() && !writer.done(); }));
    demoted.end();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(eventually(3s, [&] { return reader.done() || writer.done(); }));
    (reader.done() ? reader : writer).end();
    EXPECT_TRUE(reader.granted_within(3s) || writer.granted_within(3s));
}

TEST_F(SharedFaults, OfConnectionsAndScriptsAreGotOver) {
    auto held = lock_for(60s).acquire();
    waiter writer{server.url(), waiter::writer()};
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(asleep(1));
        EXPECT_GE(testing::kill_connections(server), 1);
    }
    ASSERT_TRUE(asleep(1));
    testing::flush_scripts(server);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(writer.granted_within(2s));
}

// With no memory left, what is held can be given back, and who waits is woken.
TEST_F(SharedFaults, OfNoMemoryLetAHolderGo) {
    auto held = lock_for(60s).acquire();
    waiter reader{server.url(), waiter::reader()};
    ASSERT_TRUE(asleep(1));
    {
        const auto full = testing::out_of_memory(server);
        EXPECT_TRUE(held.extend());
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_EQ(raw.exists(main_key), 0);
    }
    EXPECT_TRUE(reader.granted_within(3s));
}

// A demoted master holds no truth: it is not asked in vain for a refusal that is none.
TEST_F(SharedFaults, OfADemotedMasterTellNoLoss) {
    const client hasty{server.url() + "?command_timeout=500ms"};
    auto held = shared_mutex{hasty, "thing", lasting(60s)}.shared().acquire();
    {
        const auto demoted = testing::demoted(server);
        EXPECT_EQ(reason_of([&] { held.extend(); }), errc::read_only);
        EXPECT_EQ(held.release(), release_result::unknown);
    }
    EXPECT_TRUE(eventually(5s, [&] { return held.release() == release_result::released; }));
}

}  // namespace
}  // namespace tranca::shared_mutex_test
