// Who waits for several names: woken by whoever frees the busy one, holding nothing, keeping no wake-up to itself.
#include <random>

#include "multi_mutex/multi_fixture.hpp"
#include "support/child_process.hpp"
#include "support/overlap_counter.hpp"
#include "support/process_barrier.hpp"
#include "support/seed.hpp"

namespace tranca::multi_test {
namespace {

// Less than half a slice of who waits with the usual ttl, so that only a wake-up can be as fast.
constexpr milliseconds at_once = 300ms;

class Waiting : public multi_fixture {};

TEST_F(Waiting, EndsWithTheReleaseOfAMutexOfEitherName) {
    for (const std::string name : {"a", "b"}) {
        auto held = single(name).acquire();
        pending waiter{both()};
        ASSERT_TRUE(asleep(1));
        held.release();
        EXPECT_TRUE(waiter.granted_within(at_once)) << name;
    }
}

TEST_F(Waiting, ForEitherNameEndsWithTheReleaseOfBoth) {
    auto held = both().acquire();
    pending for_a{single("a")};
    pending for_b{single("b")};
    ASSERT_TRUE(asleep(2));
    held.release();
    EXPECT_TRUE(for_a.granted_within(at_once));
    EXPECT_TRUE(for_b.granted_within(at_once));
}

TEST_F(Waiting, EndsWithTheReleaseOfAnotherOfItsKind) {
    auto held = both().acquire();
    pending waiter{multi_mutex{stranger, {"b", "c", "a"}}};
    ASSERT_TRUE(asleep(1));
    held.release();
    EXPECT_TRUE(waiter.granted_within(at_once));
    EXPECT_EQ(owner("c"), owner("a"));
}

// Woken for the first name while the second is still busy: the wake-up goes to who can use it.
TEST_F(Waiting, HandsOnAWakeUpItCannotUse) {
    auto first = single("a").acquire();
    auto second = single("b").acquire();
    pending in_front{both()};
    ASSERT_TRUE(asleep(1));
    pending behind{mutex{passer_by, "a"}};
    ASSERT_TRUE(asleep(2));
    first.release();
    EXPECT_TRUE(behind.granted_within(at_once));
    ASSERT_TRUE(asleep(1));
    second.release();
    ASSERT_TRUE(throughout(50ms, [&] { return !in_front.done(); }));  // woken again, and the first name is busy
    EXPECT_EQ(raw.exists("lock:b"), 0);
    behind.held().release();
    EXPECT_TRUE(in_front.granted_within(at_once));
}

// Case W16: the server itself hands it on, since the next attempt lies there behind the wait.
TEST_F(Waiting, HandsOnAWakeUpThoughItsProcessIsFrozen) {
    auto first = single("a").acquire();
    const auto second = single("b").acquire();
    const auto url = server.url();
    testing::child_process frozen{[&] {
        const client own{url};
        static_cast<void>(multi_mutex{own, {"a", "b"}}.try_acquire_for(patience));
    }};
    ASSERT_TRUE(asleep(1));
    pending behind{mutex{passer_by, "a"}};
    ASSERT_TRUE(asleep(2));
    frozen.freeze();
    first.release();
    EXPECT_TRUE(behind.granted_within(at_once));
    frozen.kill_hard();
}

TEST_F(Waiting, HoldsNothingMeanwhile) {
    const auto busy = single("b").acquire();
    pending waiter{both()};
    ASSERT_TRUE(asleep(1));
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(single("a").try_acquire());
    EXPECT_FALSE(waiter.done());
}

TEST_F(Waiting, ThatIsStoppedLeavesNothingAndStandsInNobodysWay) {
    auto held = single("a").acquire();
    pending first{both()};
    ASSERT_TRUE(asleep(1));
    pending second{mutex{passer_by, "a"}};
    ASSERT_TRUE(asleep(2));
    const stopwatch since_request;
    first.stop();
    EXPECT_LT(since_request.elapsed(), at_once);
    held.release();
    ASSERT_TRUE(second.granted_within(at_once));
    second.held().release();
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_F(Waiting, IsClippedToItsDeadline) {
    const auto busy = single("b").acquire();
    const stopwatch since_start;
    EXPECT_FALSE(both().try_acquire_for(100ms));
    EXPECT_GE(since_start.elapsed(), 100ms);
    EXPECT_LT(since_start.elapsed(), 400ms);
}

// Case W02.
TEST_F(Waiting, EndsWhenAHolderThatTellsNobodyExpires) {
    raw.set("lock:a", "dead", 200ms);
    raw.set("lock:b", "dead", 400ms);
    const stopwatch since_start;
    EXPECT_TRUE(both().try_acquire_for(patience));
    EXPECT_LT(since_start.elapsed(), 1s);
}

TEST_F(Waiting, OfManyInOppositeOrdersNeverLocksUp) {
    constexpr int rounds = 150;
    testing::overlap_counter a{1};
    testing::overlap_counter b{1};
    testing::overlap_counter c{1};
    const auto work = [&](std::size_t worker, const std::vector<std::string>& names, testing::overlap_counter& first,
                          testing::overlap_counter& second) {
        const client own{server.url()};
        const multi_mutex lock{own, names};
        for (int i = 0; i < rounds; ++i) {
            const auto held = lock.acquire();
            first.enter(worker);
            second.enter(worker);
            first.leave(worker);
            second.leave(worker);
        }
    };
    {
        const std::jthread one{[&] { work(1, {"a", "b"}, a, b); }};
        const std::jthread two{[&] { work(2, {"b", "a"}, a, b); }};
        const std::jthread three{[&] { work(3, {"c", "b"}, b, c); }};
        const std::jthread four{[&] { work(4, {"c", "a"}, a, c); }};
    }
    for (const auto* const each : {&a, &b, &c}) {
        EXPECT_EQ(each->overruns(), 0u);
        EXPECT_GE(each->entries(), 2u * rounds);
    }
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

// Releases at any moment of a wait, in either order, with nobody else around: no wake-up may be lost, or somebody sleeps
// until its slice is over.
TEST_F(Waiting, NeverLosesAWakeUp) {
    constexpr int rounds = 100;
    testing::process_barrier start{4};
    testing::process_barrier end{4};
    std::atomic<std::int64_t> slowest{0};
    const auto wait_each_round = [&](const auto& lock) {
        for (int round = 0; round < rounds; ++round) {
            if (!start.wait(20s)) return;
            const stopwatch since_start;
            static_cast<void>(lock.acquire());
            const std::int64_t took = since_start.elapsed_ms().count();
            for (auto known = slowest.load(); known < took && !slowest.compare_exchange_weak(known, took);) {
            }
            if (!end.wait(20s)) return;
        }
    };
    const client one{server.url()};
    const client two{server.url()};
    const client three{server.url()};
    std::vector<std::jthread> waiters;
    waiters.emplace_back([&] { wait_each_round(multi_mutex{one, {"a", "b"}}); });
    waiters.emplace_back([&] { wait_each_round(mutex{two, "a"}); });
    waiters.emplace_back([&] { wait_each_round(mutex{three, "b"}); });
    std::mt19937_64 random{testing::seed("wake-ups of several")};
    for (int round = 0; round < rounds; ++round) {
        auto first = single(round % 2 == 0 ? "a" : "b").acquire();
        auto second = single(round % 2 == 0 ? "b" : "a").acquire();
        ASSERT_TRUE(start.wait(20s));
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 1'500});  // any moment will do
        first.release();
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 1'500});
        second.release();
        ASSERT_TRUE(end.wait(20s));
    }
    waiters.clear();  // before what they wait at goes
    EXPECT_LT(slowest, 400);
}

}  // namespace
}  // namespace tranca::multi_test
