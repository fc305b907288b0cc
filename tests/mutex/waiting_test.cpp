// A wait asks the server little, keeps its deadline, and is as long as its caller says. Cases A08, A10, A15, A16, W01,
// W06, W09, W11.
#include <thread>

#include "mutex/mutex_fixture.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

class MutexWaiting : public mutex_fixture {
protected:
    void SetUp() override { static_cast<void>(lock_with().try_acquire()); }  // the scripts are known

    /// What was sent, without what the scripts called.
    [[nodiscard]] static std::size_t sent(const std::vector<testing::monitored_command>& seen) {
        return names(seen).size();
    }
};

// W06: three commands a second, whatever the holder's lease is.
TEST_F(MutexWaiting, IsNoPolling) {
    occupy(60s);
    const auto other = another();
    testing::monitor_reader monitor{server};
    const auto mark = monitor.mark();
    EXPECT_FALSE(other->lock.try_acquire_for(3s));
    EXPECT_LE(sent(monitor.commands_since(mark)), 15u);  // with a connection's introduction
}

TEST_F(MutexWaiting, ForALockWithoutTtlIsNoPolling) {
    testing::make_without_ttl(server, lock_key);
    const auto other = another();
    testing::monitor_reader monitor{server};
    const auto mark = monitor.mark();
    EXPECT_FALSE(other->lock.try_acquire_for(1500ms));
    EXPECT_LE(sent(monitor.commands_since(mark)), 11u);
}

// A16: the last try is made at the deadline, also where nobody woke it.
TEST_F(MutexWaiting, TriesOnceMoreAtItsDeadline) {
    const auto other = another();
    constexpr milliseconds limit = 600ms;
    EXPECT_TRUE(testing::once_below(limit, [&]() -> clock::duration {
        occupy();
        std::optional<guard> held;
        const stopwatch since_start;
        std::jthread waiter{[&] { held = other->lock.try_acquire_for(300ms); }};
        const bool seen = eventually(250ms, [&] { return raw.info("blocked_clients") == "1"; });
        raw.del(lock_key);  // without a wake-up
        const bool in_time = seen && since_start.elapsed() < 250ms;
        waiter.join();
        const auto took = since_start.elapsed();
        if (!in_time) return limit;  // perhaps too late for its last try
        EXPECT_TRUE(held);
        EXPECT_GE(took, 250ms);
        return took;
    }));
}

TEST_F(MutexWaiting, EndsAtItsDeadline) {
    occupy();
    for (const auto wait : {1ms, 20ms, 120ms, 1100ms}) {
        EXPECT_TRUE(testing::once_below(wait + 200ms, [&] {
            const stopwatch since_start;
            EXPECT_FALSE(lock_with().try_acquire_for(wait));
            const auto took = since_start.elapsed();
            EXPECT_GE(took, wait);
            return took;
        }));
    }
    EXPECT_EQ(raw.get(lock_key), "foreign");
}

// A08.
TEST_F(MutexWaiting, OfNoTimeIsOneAttempt) {
    const auto lock = lock_with();
    for (int i = 0; i < 100; ++i)
        EXPECT_TRUE(lock.try_acquire_for(0ms));
    occupy();
    raw.reset_stats();
    for (int i = 0; i < 100; ++i)
        EXPECT_FALSE(lock.try_acquire_for(0ms));
    EXPECT_EQ(raw.calls("evalsha"), 100);
    EXPECT_EQ(raw.exists(mark_key), 0);  // who does not wait leaves no mark
}

// A10, A15: longer than the waiter's own ttl, of which nothing much is gone at the end.
TEST_F(MutexWaiting, MayBeLongerThanTheTtl) {
    occupy(1800ms);
    const auto held = lock_with(lasting(1500ms)).try_acquire_for(5s);
    ASSERT_TRUE(held);
    EXPECT_GE(held->safe_until() - clock::now(), 750ms);
}

// W01: released while the waiter is about to go to sleep.
TEST_F(MutexWaiting, IsNotMissedByAReleaseBeforeItSleeps) {
    auto held = lock_with(lasting(30s)).acquire();
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url()};
    gate.hold("BLPOP");
    std::optional<guard> next;
    std::jthread waiter{[&] { next = mutex{through, "thing"}.try_acquire_for(10s); }};
    ASSERT_TRUE(gate.wait_until_held(5s));
    EXPECT_EQ(held.release(), release_result::released);
    const stopwatch since_release;
    gate.let_go();
    waiter.join();
    EXPECT_TRUE(next);
    EXPECT_LT(since_release.elapsed(), 500ms);
}

// W11: the time limit of a command does not end a block that is longer ...
TEST_F(MutexWaiting, IsNotEndedByTheTimeLimitOfACommand) {
    occupy();
    const client own{server.url() + "?command_timeout=400ms"};  // a slice is half a second at least
    const stopwatch since_start;
    EXPECT_FALSE((mutex{own, "thing", lasting(30s)}.try_acquire_for(1500ms)));
    EXPECT_GE(since_start.elapsed(), 1500ms);
    EXPECT_LT(since_start.elapsed(), 1900ms);
}

// ... and a link that is dead ends it, with an error.
TEST_F(MutexWaiting, IsEndedByADeadLink) {
    occupy();
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=200ms&connect_timeout=200ms"};
    const stopwatch since_start;
    std::optional<error> failure;
    std::jthread waiter{[&] {
        failure = thrown_by([&] { static_cast<void>(mutex{through, "thing"}.try_acquire_for(2s)); });
    }};
    ASSERT_TRUE(wait_for_sleepers(1));
    gate.black_hole(testing::direction::to_client);
    waiter.join();
    EXPECT_TRUE(failure);
    EXPECT_LT(since_start.elapsed(), 3s);
    EXPECT_EQ(raw.get(lock_key), "foreign");
}

// A02: those who wait do not lengthen the lease of the holder they wait for.
TEST_F(MutexWaiting, LeavesTheHoldersTtlAlone) {
    occupy(900ms);
    const auto end = expires_at();
    const auto other = another(lasting(10s));
    std::optional<guard> held;
    std::jthread waiter{[&] { held = other->lock.try_acquire_for(5s); }};
    EXPECT_TRUE(throughout(700ms, [&] { return expires_at() == end; }));
    waiter.join();
    EXPECT_TRUE(held);
}

// W09: what a wait keeps on the server goes by itself.
TEST_F(MutexWaiting, LeavesNoHelperKeys) {
    auto held = lock_with().acquire();
    const auto other = another();
    std::jthread waiter{[&] { EXPECT_TRUE(other->lock.try_acquire_for(5s)); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    EXPECT_EQ(raw.exists(mark_key), 1);
    held.release();
    waiter.join();
    EXPECT_TRUE(eventually(4s, [&] { return raw.keys() == std::vector<std::string>{fence_key}; }))
        << ::testing::PrintToString(raw.keys());
}

}  // namespace
}  // namespace tranca::mutex_test
