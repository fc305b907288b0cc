// First to third rung: what a crashed holder leaves behind.
#include "ladder/schedule.hpp"

namespace tranca::ladder_test {
namespace {

using ladder::naive_lock;
using ladder::px_lock;
using ladder::timeout_lock;
using testing::any_command;
using testing::nth;

class Crash : public Ladder {
protected:
    /// A holder is killed, then an age passes. Can another get in? Two attempts: the first may have to repair.
    template <class Attempt>
    [[nodiscard]] bool frees_the_lock(Attempt attempt) {
        tcp_gate gate{server.tcp()};
        acquire_and_be_killed(gate, attempt);
        return others_get_in(attempt);
    }

    /// The same with a client that is killed when it wants to send its command number `step`.
    template <class Attempt>
    [[nodiscard]] bool frees_the_lock_at_step(std::size_t step, Attempt attempt) {
        tcp_gate gate{server.tcp()};
        gate.hold(nth(step, any_command()));
        acquire_and_be_killed(gate, attempt);
        return others_get_in(attempt);
    }

    template <class Attempt>
    [[nodiscard]] bool others_get_in(Attempt attempt) {
        for (int i = 0; i < 2; ++i) {
            pass_an_age(raw);
            if (attempt(redis)) return true;
        }
        return false;
    }

    template <class Attempt>
    void expect_free_after_every_step(Attempt attempt) {
        const auto count = steps_of(server, attempt);
        for (std::size_t step = 1; step <= count; ++step) {
            EXPECT_TRUE(frees_the_lock_at_step(step, attempt)) << "command " << step << " of " << count;
            raw.flush();
        }
    }
};

constexpr auto by_naive_lock = [](const client& redis) { return naive_lock{redis, "thing"}.try_acquire(); };
constexpr auto by_timeout_lock = [](const client& redis) { return timeout_lock{redis, "thing"}.try_acquire(); };
constexpr auto by_px_lock = [](const client& redis) { return px_lock{redis, "thing"}.try_acquire(); };

TEST_F(Crash, OfANaiveHolderBlocksForEver) { EXPECT_FALSE(frees_the_lock(by_naive_lock)); }
TEST_F(Crash, OfATimeoutLocksHolderBlocksForItsTtl) { EXPECT_TRUE(frees_the_lock(by_timeout_lock)); }
TEST_F(Crash, OfAPxLocksHolderBlocksForItsTtl) { EXPECT_TRUE(frees_the_lock(by_px_lock)); }

TEST_F(Crash, OfATimeoutLocksHolderAtAnyStepIsRepairedByAWaiter) { expect_free_after_every_step(by_timeout_lock); }
TEST_F(Crash, OfAPxLocksHolderAtAnyStepNeedsNoRepair) { expect_free_after_every_step(by_px_lock); }

// Between its two commands the second rung is a naive lock.
class CrashBetweenTheSteps : public Crash {
protected:
    /// A client is killed when it wants to send PEXPIRE, if it ever does. Returns what is left of the lock's time.
    template <class Attempt>
    [[nodiscard]] std::int64_t time_left_after(Attempt attempt) {
        tcp_gate gate{server.tcp()};
        gate.hold("PEXPIRE");
        acquire_and_be_killed(gate, attempt);
        EXPECT_EQ(raw.exists("lock:thing"), 1);
        return raw.pttl("lock:thing");
    }
};

TEST_F(CrashBetweenTheSteps, LeavesALockWithoutTtlThatOnlyAWaiterRepairs) {
    constexpr int no_ttl = -1;
    EXPECT_EQ(time_left_after(by_timeout_lock), no_ttl);
    pass_an_age(raw);
    EXPECT_EQ(raw.exists("lock:thing"), 1);  // nobody came, nothing happened
    const timeout_lock waiter{redis, "thing", {.lease = {.ttl = 5s}}};
    EXPECT_FALSE(waiter.try_acquire());
    EXPECT_THAT(raw.pttl("lock:thing"), ::testing::AllOf(::testing::Gt(0), ::testing::Le(5'000)));  // the waiter's own
    pass_an_age(raw);
    EXPECT_TRUE(waiter.try_acquire());
}

TEST_F(CrashBetweenTheSteps, DoesNotExistForPxLock) {
    EXPECT_THAT(time_left_after(by_px_lock), ::testing::AllOf(::testing::Gt(0), ::testing::Le(10'000)));
}

TEST_F(CrashBetweenTheSteps, IsWaitedOutInOneWait) {
    static_cast<void>(time_left_after(by_timeout_lock));
    EXPECT_TRUE(timeout_lock(redis, "thing", {.lease = {.ttl = 50ms}}).try_acquire_for(patience));
}

}  // namespace
}  // namespace tranca::ladder_test
