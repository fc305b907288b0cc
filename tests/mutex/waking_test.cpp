// Who is woken by a release: exactly one, in order of arrival, and never nobody. Cases W03, W08.
#include <random>
#include <thread>

#include "mutex/mutex_fixture.hpp"
#include "support/process_barrier.hpp"
#include "support/seed.hpp"

namespace tranca::mutex_test {
namespace {

class Waking : public mutex_fixture {
protected:
    /// As many clients, each with a thread that waits for the lock; each begins when the one before it sleeps.
    template <class Body>
    void with_sleepers(std::size_t count, Body body) {
        for (std::size_t i = 0; i < count; ++i) {
            others.push_back(another());
            threads.emplace_back([this, i, body] { body(i, others_lock(i).acquire()); });
            ASSERT_TRUE(wait_for_sleepers(static_cast<std::int64_t>(i + 1)));
        }
    }

    [[nodiscard]] const mutex& others_lock(std::size_t i) {
        const std::lock_guard lock{growing};
        return others.at(i)->lock;
    }

    [[nodiscard]] std::uint64_t woken_for_nothing() const {
        std::uint64_t sum = 0;
        for (const auto& each : others)
            sum += each->told->count(event::kind::spurious_wakeup);
        return sum;
    }

    std::mutex growing;
    std::vector<std::unique_ptr<stranger>> others = room();
    std::vector<std::jthread> threads;

private:
    // No thread may see the vector move.
    [[nodiscard]] static std::vector<std::unique_ptr<stranger>> room() {
        std::vector<std::unique_ptr<stranger>> made;
        made.reserve(64);
        return made;
    }
};

TEST_F(Waking, IsInOrderOfArrival) {
    std::mutex writing;
    std::vector<std::size_t> order;
    // Who has slept for a slice, of half a second at least, stands at the end of the line: the round has to be shorter.
    EXPECT_TRUE(eventually(10s, [&] {
        order.clear();
        others.clear();
        auto held = lock_with().acquire();
        const stopwatch since_the_first;
        with_sleepers(6, [&](std::size_t i, const guard&) {
            const std::lock_guard lock{writing};
            order.push_back(i);
        });
        held.release();
        threads.clear();
        return std::ranges::is_sorted(order) || since_the_first.elapsed() < 400ms;
    }));
    EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_EQ(woken_for_nothing(), 0u);
}

TEST_F(Waking, IsOfOneForEachRelease) {
    auto held = lock_with().acquire();
    std::atomic<std::size_t> inside{0};
    std::atomic<std::size_t> leave{0};
    with_sleepers(5, [&](std::size_t, const guard&) {
        const auto mine = ++inside;
        EXPECT_TRUE(eventually(10s, [&] { return leave >= mine; }));
    });
    held.release();
    for (std::size_t i = 1; i <= 5; ++i) {
        EXPECT_TRUE(eventually(500ms, [&] { return inside == i; }));
        EXPECT_TRUE(wait_for_sleepers(static_cast<std::int64_t>(5 - i)));  // one may be between two slices
        leave = i;
    }
    threads.clear();
    EXPECT_EQ(woken_for_nothing(), 0u);
}

// A release at any moment of a wait: nobody sleeps on until its slice is over (a second), though nobody else comes by.
TEST_F(Waking, IsNeverLost) {
    constexpr int rounds = 200;
    constexpr std::size_t waiters = 2;
    testing::process_barrier start{waiters + 1};
    testing::process_barrier end{waiters + 1};
    std::atomic<std::int64_t> slowest{0};
    for (std::size_t i = 0; i < waiters; ++i) {
        others.push_back(another());
        threads.emplace_back([&, &lock = others.back()->lock] {
            for (int round = 0; round < rounds; ++round) {
                if (!start.wait(20s)) return;
                const stopwatch since_start;
                static_cast<void>(lock.acquire());
                const std::int64_t took = since_start.elapsed_ms().count();
                for (auto known = slowest.load(); known < took && !slowest.compare_exchange_weak(known, took);) {
                }
                if (!end.wait(20s)) return;
            }
        });
    }
    std::mt19937_64 random{testing::seed("wake-ups")};
    const auto holder = lock_with();
    for (int round = 0; round < rounds; ++round) {
        auto held = holder.acquire();
        ASSERT_TRUE(start.wait(20s));
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 1'500});  // any moment will do
        held.release();
        ASSERT_TRUE(end.wait(20s));
    }
    threads.clear();  // before what they wait at goes
    EXPECT_LT(slowest, 700);
}

// W03: those that gave up do not stand in the way of who stayed.
TEST_F(Waking, PassesOverThoseThatGaveUp) {
    auto held = lock_with().acquire();
    std::vector<std::jthread> impatient;
    for (int i = 0; i < 5; ++i) {
        others.push_back(another());
        impatient.emplace_back([&lock = others.back()->lock] { EXPECT_FALSE(lock.try_acquire_for(100ms)); });
    }
    impatient.clear();
    const auto last = another();
    std::optional<guard> next;
    std::jthread waiter{[&] { next = last->lock.try_acquire_for(5s); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    expect_wakes(held, waiter, next);
}

// A waiter that is stopped in the moment of a release may have been given the wake-up: it goes to the next.
TEST_F(Waking, IsHandedOnByAWaiterThatStops) {
    const auto first = another();
    const auto second = another();
    const auto holder = lock_with();
    std::mt19937_64 random{testing::seed("stops")};
    for (int round = 0; round < 50; ++round) {
        auto held = holder.acquire();
        std::stop_source stop;
        std::jthread stopped{[&] { static_cast<void>(first->lock.try_acquire_for(20s, stop.get_token())); }};
        ASSERT_TRUE(wait_for_sleepers(1));
        std::optional<guard> next;
        std::jthread waiter{[&] { next = second->lock.try_acquire_for(20s); }};
        ASSERT_TRUE(wait_for_sleepers(2));
        const stopwatch since_release;
        std::jthread stopper{[&, pause = random() % 300] {
            std::this_thread::sleep_for(std::chrono::microseconds{pause});  // around the release
            stop.request_stop();
        }};
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 300});
        held.release();
        waiter.join();
        ASSERT_TRUE(next);
        ASSERT_LT(since_release.elapsed(), 500ms) << round;
        next.reset();
    }
}

// W08: greedy neighbours, who ask again at once, may be faster a few times, not for ever.
TEST_F(Waking, ReachesAPoliteWaiterAmongGreedyOnes) {
    std::atomic<bool> stop{false};
    for (int i = 0; i < 3; ++i) {
        others.push_back(another());
        threads.emplace_back([&stop, &lock = others.back()->lock] {
            while (!stop) {
                const auto held = lock.acquire();
                const stopwatch inside;
                while (inside.elapsed() < 2ms) {
                }
            }
        });
    }
    const auto polite = another();
    int granted = 0;
    for (int i = 0; i < 20; ++i)
        if (polite->lock.try_acquire_for(2s)) ++granted;
    stop = true;
    threads.clear();
    EXPECT_EQ(granted, 20);
}

}  // namespace
}  // namespace tranca::mutex_test
