// Threads of one process queue inside it: one waiter on the server, first come first served. Case B17.
#include <memory>
#include <vector>

#include "mutex/mutex_fixture.hpp"
#include "mutex/sleeping_thread.hpp"
#include "support/child_process.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::mutex_test {
namespace {

using testing::exited;
using testing::monitor_reader;

class LocalQueue : public mutex_fixture {
protected:
    using threads = std::vector<std::unique_ptr<sleeping_thread>>;

    /// As many threads, each in the queue before the next one comes.
    template <class Body>
    void queue(threads& all, std::size_t count, Body body) {
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(std::make_unique<sleeping_thread>([i, body] { body(i); }));
            ASSERT_TRUE(all.back()->sleeps());
        }
    }
};

TEST_F(LocalQueue, CostsOneWaiterOnTheServer) {
    const auto lock = lock_with();
    occupy();
    std::atomic<int> granted{0};
    threads all;
    queue(all, 12, [&](std::size_t) {
        const auto held = lock.acquire();
        ++granted;
    });
    EXPECT_TRUE(throughout(300ms, [&] { return std::stoll(raw.info("blocked_clients")) <= 1; }));
    EXPECT_LE(server.foreign_connections(), 3);
    free_and_wake();
    EXPECT_TRUE(eventually(2s, [&] { return granted == 12; }));
}

TEST_F(LocalQueue, IsFirstComeFirstServed) {
    const auto lock = lock_with();
    auto held = lock.acquire();
    std::vector<std::size_t> order;  // written by the holder only
    {
        threads all;
        queue(all, 8, [&](std::size_t i) {
            const auto mine = lock.acquire();
            order.push_back(i);
        });
        held.release();
    }
    EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// B17.
// Its turn comes with the loss, and not when the loser's listener has done with it: that may be waiting for it.
TEST_F(LocalQueue, IsNotHeldUpByALossListener) {
    const auto lock = lock_with(lasting(600ms, 0ms));
    const auto lost = lock.acquire();
    std::atomic<bool> granted{false}, in_time{false};
    const sleeping_thread next{[&] {
        const auto held = lock.acquire();
        granted = true;
    }};
    ASSERT_TRUE(next.sleeps());
    const std::stop_callback listener{lost.lost(), [&] { in_time = eventually(5s, [&] { return granted.load(); }); }};
    EXPECT_TRUE(eventually(10s, [&] { return granted.load(); }));
    EXPECT_TRUE(eventually(10s, [&] { return in_time.load(); }));
}

TEST_F(LocalQueue, IsNotHeldUpByAHolderThatLostItsLease) {
    const auto lock = lock_with(lasting(600ms));
    const auto lost = lock.acquire();
    raw.del(lock_key);
    sleeping_thread waiter{[&] {
        const auto held = lock.acquire();
        EXPECT_TRUE(held);
    }};
    EXPECT_TRUE(waiter.done_within(600ms));
    EXPECT_FALSE(lost);

    const auto brief = lock_with(lasting(200ms, 0ms));
    const auto forgotten = brief.acquire();
    sleeping_thread next{[&] { static_cast<void>(brief.acquire()); }};
    EXPECT_TRUE(next.done_within(500ms));
}

TEST_F(LocalQueue, KeepsDeadlinesAndStopsWithoutACommand) {
    const auto lock = lock_with(lasting(30s));
    const auto held = lock.acquire();
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    EXPECT_TRUE(testing::once_below(350ms, [&] {
        const stopwatch since_start;
        EXPECT_FALSE(lock.try_acquire_for(150ms));
        const auto took = since_start.elapsed();
        EXPECT_GE(took, 150ms);
        return took;
    }));
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_TRUE(testing::once_below(200ms, [&] {
        std::stop_source stop;
        sleeping_thread stopped{[&] { EXPECT_FALSE(lock.try_acquire_for(20s, stop.get_token())); }};
        EXPECT_TRUE(stopped.sleeps());
        const stopwatch since_stop;
        stop.request_stop();
        EXPECT_TRUE(stopped.done_within(5s));
        return since_stop.elapsed();
    }));
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_TRUE(held);
}

// Who asks the server for all of them gives up: the next in the queue takes its place there.
TEST_F(LocalQueue, GoesOnWhenItsFirstGivesUp) {
    const auto lock = lock_with();
    occupy();
    std::stop_source stop;
    sleeping_thread first{[&] { EXPECT_FALSE(lock.try_acquire_for(20s, stop.get_token())); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    sleeping_thread second{[&] { static_cast<void>(lock.acquire()); }};
    ASSERT_TRUE(second.sleeps());
    stop.request_stop();
    EXPECT_TRUE(first.done_within(500ms));
    ASSERT_TRUE(wait_for_sleepers(1));
    free_and_wake();
    EXPECT_TRUE(second.done_within(500ms));
}

TEST_F(LocalQueue, IsEmptyInAForkedChild) {
    const auto lock = lock_with(lasting(30s));
    auto held = lock.acquire();
    std::atomic<int> granted{0};
    threads all;
    queue(all, 4, [&](std::size_t) {
        static_cast<void>(lock.acquire());
        ++granted;
    });
    for (int i = 0; i < 3; ++i) {
        testing::child_process child{[&] {
            EXPECT_FALSE(lock.try_acquire());
            EXPECT_FALSE(lock.try_acquire_for(50ms));
            EXPECT_TRUE((mutex{redis, "of the child"}.try_acquire()));
        }};
        EXPECT_EQ(child.wait(10s), exited(0));
    }
    EXPECT_EQ(granted, 0);
    held.release();
    EXPECT_TRUE(eventually(2s, [&] { return granted == 4; }));
}

// The child waits in its own right, for a lock of its parent.
TEST_F(LocalQueue, OfAForkedChildWaitsForItsParent) {
    const auto lock = lock_with(lasting(30s));
    auto held = lock.acquire();
    testing::child_process child{[&] { EXPECT_TRUE(lock.try_acquire_for(10s)); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(child.wait(2s), exited(0));
}

}  // namespace
}  // namespace tranca::mutex_test
