// The loss of a renewed lease is told before the server lets the key go - or at once, when it has gone before its time.
// Cases C09, N07, N12, and the failover of the fault kit.
#include <thread>

#include "mutex/loss_watch.hpp"
#include "mutex/mutex_fixture.hpp"
#include "support/faults.hpp"
#include "support/replica_pair.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

/// Much margin, so that a busy machine does not decide.
[[nodiscard]] mutex_options with_margin() {
    auto made = lasting(900ms, 200ms);
    made.lease.margin = 300ms;
    return made;
}

/// So long that only a renewal can find out in time that the lease is lost.
[[nodiscard]] mutex_options long_renewed() { return lasting(20s, 200ms); }

constexpr milliseconds period = 200ms;
constexpr milliseconds slack = 2s;

class MutexLoss : public mutex_fixture {
protected:
    /// When the key will go, read from a connection of its own right after a renewal: the next one is far away.
    [[nodiscard]] std::int64_t expiry_after_a_renewal() {
        const auto before = told->count(event::kind::renewed);
        EXPECT_TRUE(eventually(5s, [&] { return told->count(event::kind::renewed) > before; }));
        return expires_at();
    }
};

TEST_F(MutexLoss, IsToldInTimeByAFrozenServer) {
    const auto held = lock_with(with_margin()).acquire();
    const loss_watch loss{held};
    const auto end = expiry_after_a_renewal();
    const auto frozen = testing::frozen(server);
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(loss.wall_time(), end);
    EXPECT_GT(loss.wall_time(), end - 900 + 200);  // and not before it must be
    EXPECT_FALSE(held);
    EXPECT_EQ(loss.calls(), 1);
}

TEST_F(MutexLoss, IsToldInTimeByADeadServer) {
    const auto held = lock_with(with_margin()).acquire();
    const loss_watch loss{held};
    const auto end = expiry_after_a_renewal();
    const auto dead = testing::unreachable(server);
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(loss.wall_time(), end);
}

TEST_F(MutexLoss, IsToldInTimeBehindAPartition) {
    for (const bool requests_too : {false, true}) {
        testing::tcp_gate gate{server.tcp()};
        const client through{gate.url(), told_to(told)};
        const auto held = mutex{through, "thing", with_margin()}.acquire();
        const loss_watch loss{held};
        auto end = expiry_after_a_renewal();
        if (requests_too) gate.black_hole(testing::direction::to_server);
        gate.black_hole(testing::direction::to_client);
        // What still gets through renews the key, which then lasts longer than the holder believes.
        ASSERT_TRUE(loss.told_within(5s));
        EXPECT_LT(loss.wall_time(), end);
        EXPECT_EQ(exists(), true);
        gate.pass();
        raw.del(lock_key);
    }
}

TEST_F(MutexLoss, IsToldWithinAPeriodAfterAFlush) {
    const auto held = lock_with(long_renewed()).acquire();
    const loss_watch loss{held};
    raw.flush();
    const stopwatch since_flush;
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(since_flush.elapsed(), period + slack);
    EXPECT_TRUE(throughout(2 * period, [&] { return !exists(); }));
    EXPECT_FALSE(held);
}

TEST_F(MutexLoss, IsToldWithinAPeriodAfterTheKeyWasTaken) {
    auto held = lock_with(long_renewed()).acquire();
    const loss_watch loss{held};
    raw.del(lock_key);
    auto next = another(lasting(10s, 0ms))->lock.try_acquire();
    ASSERT_TRUE(next);
    const auto value = raw.get(lock_key);
    const stopwatch since_taken;
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(since_taken.elapsed(), period + slack);
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(raw.get(lock_key), value);
    EXPECT_GT(raw.pttl(lock_key), 8'000);  // C01: nobody else's ttl is touched
    EXPECT_TRUE(*next);
}

TEST_F(MutexLoss, IsToldWithinAPeriodAfterTheKeyBecameSomethingElse) {
    auto held = lock_with(long_renewed()).acquire();
    const loss_watch loss{held};
    testing::make_wrong_type(server, lock_key);
    const stopwatch since_changed;
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(since_changed.elapsed(), period + slack);
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(raw.must({"TYPE", lock_key}), "list");
}

// N07.
TEST_F(MutexLoss, IsToldWithinAPeriodAfterAnEviction) {
    const auto held = lock_with(long_renewed()).acquire();
    const loss_watch loss{held};
    ASSERT_GE(testing::evict_keys_with_ttl(server), 1);
    ASSERT_TRUE(loss.told_within(period + slack));
    EXPECT_FALSE(exists());
}

TEST_F(MutexLoss, IsToldWhenTheServerForgotEverything) {
    const auto held = lock_with(with_margin()).acquire();
    const loss_watch loss{held};
    const auto end = expiry_after_a_renewal();
    testing::restart_without_persistence(server);
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(loss.wall_time(), end);
    EXPECT_FALSE(exists());
}

TEST_F(MutexLoss, IsToldWhenALaggingReplicaIsPromoted) {
    testing::replica_pair pair;
    const client through{pair.url(), told_to(told)};
    pair.stop_replication();
    const auto held = mutex{through, "thing", with_margin()}.acquire();
    const loss_watch loss{held};
    const auto end = pair.master().must({"PEXPIRETIME", lock_key}).integer + 200;  // at most one renewal more
    pair.fail_over();
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(loss.wall_time(), end);
    EXPECT_EQ(pair.replica().must({"EXISTS", lock_key}), 0);
}

// N03: the new master has the lock; nothing is lost.
TEST_F(MutexLoss, IsNotToldWhenAReplicaInSyncTakesOver) {
    testing::replica_pair pair;
    const client through{pair.url(), told_to(told)};
    auto held = mutex{through, "thing", lasting(2s)}.acquire();
    const loss_watch loss{held};
    pair.wait_in_sync();
    pair.switch_over();
    const auto before = told->count(event::kind::renewed);
    EXPECT_TRUE(eventually(3s, [&] { return told->count(event::kind::renewed) >= before + 2; }));
    EXPECT_FALSE(loss.told());
    EXPECT_EQ(held.release(), release_result::released);
}

// N12: what was lost does not stand in the way of what comes after.
TEST_F(MutexLoss, LetsTheNextLockOfThatNameBeRenewed) {
    const auto lock = lock_with(lasting(900ms));
    auto first = lock.acquire();
    const loss_watch loss{first};
    raw.flush();
    ASSERT_TRUE(loss.told_within(2s));
    const auto second = lock.acquire();
    EXPECT_EQ(first.release(), release_result::taken);
    EXPECT_TRUE(throughout(1200ms, [&] { return exists(); }));
    EXPECT_TRUE(second);
}

// Lease rule 3.
TEST_F(MutexLoss, DoesNotDelayTheRenewalsOfOthersByASlowListener) {
    std::atomic<bool> go_on{false};
    std::atomic<int> slow{0};
    const auto lost = mutex{redis, "lost", lasting(300ms)}.acquire();
    const std::stop_callback listener{lost.lost(), [&] {
                                          ++slow;
                                          EXPECT_TRUE(eventually(20s, [&] { return go_on.load(); }));
                                      }};
    const auto held = lock_with(lasting(900ms)).acquire();
    raw.del("lock:lost");
    ASSERT_TRUE(eventually(2s, [&] { return slow == 1; }));
    EXPECT_TRUE(throughout(1200ms, [&] { return exists() && !!held; }));
    go_on = true;
}

}  // namespace
}  // namespace tranca::mutex_test
