// Who waits is woken: as many as can be served, and those who want several are not starved.
#include <atomic>
#include <memory>
#include <thread>

#include "semaphore/semaphore_fixture.hpp"
#include "support/child_process.hpp"

namespace tranca::semaphore_test {
namespace {

class Waiters : public semaphore_fixture {};

TEST_F(Waiters, AreWokenAsManyAsSlotsAreFree) {
    const auto calls = limited_to(3);
    auto all = calls.weighted(3).acquire();
    std::atomic<int> inside{0};
    std::atomic<bool> stop{false};
    std::vector<std::jthread> waiters;
    for (int i = 0; i < 3; ++i)
        waiters.emplace_back([&] {
            const auto held = calls.acquire();
            ++inside;
            while (!stop)
                std::this_thread::sleep_for(1ms);
        });
    ASSERT_TRUE(asleep(3));
    const stopwatch since_the_release;
    all.release();
    EXPECT_TRUE(eventually(700ms, [&] { return inside == 3; })) << inside;  // a slice is a second
    stop = true;
}

// No newcomers that would heal a lost wake-up: a few waiters, and holders that leave one after another.
TEST_F(Waiters, AreNeverForgottenInSparsePhases) {
    const auto calls = limited_to(2);
    int slow = 0;
    for (int round = 0; round < 40; ++round) {
        auto first = std::make_unique<guard>(calls.acquire());
        auto second = std::make_unique<guard>(calls.acquire());
        std::atomic<int> done{0};
        std::vector<std::jthread> waiters;
        for (int i = 0; i < 5; ++i)
            waiters.emplace_back([&] {
                const auto held = calls.acquire();
                ++done;
            });
        ASSERT_TRUE(asleep(5));
        const stopwatch since_the_release;
        first.reset();
        if (round % 2 == 0) second.reset();
        EXPECT_TRUE(eventually(patience, [&] { return done == 5; }));
        slow += since_the_release.elapsed() > 300ms ? 1 : 0;
    }
    EXPECT_LE(slow, 2);  // the machine's own
}

TEST_F(Waiters, AreAllServedThoughTheyAreMany) {
    const auto calls = limited_to(4);
    auto all = calls.weighted(4).acquire();
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    const stopwatch since_then;
    {
        std::vector<std::jthread> waiters;
        for (int i = 0; i < 64; ++i)
            waiters.emplace_back([&] {
                const auto held = calls.acquire();
                const int now = ++inside;
                for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                }
                std::this_thread::sleep_for(1ms);
                --inside;
            });
        ASSERT_TRUE(asleep(64));
        all.release();
    }
    EXPECT_LE(most, 4);
    EXPECT_LT(since_then.elapsed(), 5s);
}

TEST_F(Waiters, ThatGiveUpHandOnWhatTheyMayHaveBeenGiven) {
    const auto calls = limited_to(1);
    for (int round = 0; round < 20; ++round) {
        auto held = std::make_unique<guard>(calls.acquire());
        std::atomic<bool> served{false};
        std::jthread patient{[&] {
            const auto mine = calls.acquire();
            served = true;
        }};
        std::jthread hasty{
            [&](const std::stop_token& stop) { static_cast<void>(calls.try_acquire_for(patience, stop)); }};
        ASSERT_TRUE(asleep(2));
        hasty.request_stop();
        held.reset();
        EXPECT_TRUE(eventually(patience, [&] { return served.load(); }));
    }
}

TEST_F(Waiters, LeaveTheExpiredToTheirOwnTimers) {
    auto dead = limited_to(1, 300ms).acquire();
    dead.abandon();
    const stopwatch since_then;
    EXPECT_TRUE(limited_to(1).try_acquire_for(patience));
    EXPECT_LT(since_then.elapsed(), 1s);
}

class BigRequest : public semaphore_fixture {};

TEST_F(BigRequest, IsAllOrNothingAndCountsInFull) {
    const auto calls = limited_to(5);
    auto three = calls.weighted(3).acquire();
    EXPECT_EQ(three.slots().size(), 3u);
    EXPECT_EQ(calls.available(), 2);
    EXPECT_FALSE(calls.weighted(3).try_acquire());
    EXPECT_EQ(calls.available(), 2);
    const auto two = calls.weighted(2).try_acquire();
    ASSERT_TRUE(two);
    auto both = slots_of(three);
    both.insert(both.end(), two->slots().begin(), two->slots().end());
    EXPECT_THAT(both, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4));
    EXPECT_TRUE(three.extend());
    EXPECT_EQ(three.release(), release_result::released);
    EXPECT_EQ(calls.available(), 3);
    EXPECT_EQ(calls.weighted(3).weight(), 3);
}

TEST_F(BigRequest, IsNotStarvedBySmallOnes) {
    const auto calls = limited_to(4);
    std::atomic<bool> stop{false};
    std::atomic<int> served{0};
    std::vector<std::jthread> small;
    for (int i = 0; i < 8; ++i)
        small.emplace_back([&] {
            while (!stop) {
                const auto held = calls.try_acquire_for(100ms);
                if (!held) continue;
                ++served;
                std::this_thread::sleep_for(2ms);
            }
        });
    ASSERT_TRUE(eventually(patience, [&] { return served > 50; }));
    for (int i = 0; i < 5; ++i) {
        const stopwatch since_then;
        EXPECT_TRUE(calls.weighted(4).try_acquire_for(patience));
        EXPECT_LT(since_then.elapsed(), 1s);
    }
    const int before = served;
    EXPECT_TRUE(eventually(patience, [&] { return served > before + 50; }));  // and they go on
    stop = true;
}

TEST_F(BigRequest, HasRoomKeptWhileItWaitsAndNotAfterIt) {
    const auto calls = limited_to(2);
    auto held = std::make_unique<guard>(calls.acquire());
    std::optional<guard> both;
    {
        std::jthread big{[&] { both = calls.weighted(2).try_acquire_for(patience); }};
        ASSERT_TRUE(asleep(1));
        EXPECT_FALSE(calls.try_acquire());  // one is free, and not for us
        held.reset();
    }
    ASSERT_TRUE(both);
    both.reset();
    held = std::make_unique<guard>(calls.acquire());
    EXPECT_FALSE(calls.weighted(2).try_acquire_for(100ms));
    EXPECT_TRUE(calls.try_acquire());  // given up: nothing is kept for it
}

TEST_F(BigRequest, OfSeveralIsServedOneAfterAnother) {
    const auto calls = limited_to(3);
    auto held = std::make_unique<guard>(calls.weighted(2).acquire());
    std::atomic<int> served{0};
    std::vector<std::jthread> big;
    for (int i = 0; i < 4; ++i)
        big.emplace_back([&, i] {
            const auto mine = calls.weighted(2 + i % 2).acquire();
            ++served;
        });
    ASSERT_TRUE(asleep(4));
    const stopwatch since_then;
    held.reset();
    EXPECT_TRUE(eventually(patience, [&] { return served == 4; }));
    EXPECT_LT(since_then.elapsed(), 3s);
}

TEST_F(BigRequest, ThatDiedKeepsTheOthersOutForTwoSeconds) {
    const auto url = server.url();
    const auto calls = limited_to(2);
    const auto held = calls.acquire();
    testing::child_process big{[&] {
        const client own{url};
        const semaphore theirs{own, "thing", 2, {.lease = {.ttl = 10s}}};
        static_cast<void>(theirs.weighted(2).acquire());
    }};
    ASSERT_TRUE(asleep(1));
    EXPECT_FALSE(calls.try_acquire());
    big.kill_hard();
    const stopwatch since_then;
    EXPECT_TRUE(calls.try_acquire_for(patience));
    EXPECT_LT(since_then.elapsed(), 3500ms);
}

TEST_F(BigRequest, BehindADeadOneWaitsWithoutSpinning) {
    const auto url = server.url();
    const auto calls = limited_to(3);
    auto held = std::make_unique<guard>(calls.acquire());
    testing::child_process dead{[&] {
        const client own{url};
        const semaphore theirs{own, "thing", 3, {.lease = {.ttl = 10s}}};
        static_cast<void>(theirs.weighted(3).acquire());
    }};
    ASSERT_TRUE(asleep(1));
    const stopwatch since_then;
    std::jthread next{[&] { EXPECT_TRUE(calls.weighted(3).try_acquire_for(patience)); }};
    ASSERT_TRUE(asleep(2));
    dead.kill_hard();
    raw.reset_stats();
    held.reset();
    next.join();
    EXPECT_LT(since_then.elapsed(), 4s);
    EXPECT_LT(raw.calls("evalsha"), 200);
}

TEST_F(BigRequest, BeyondALimitThatFellKeepsNobodyOut) {
    const auto calls = limited_to(3);
    calls.set_limit(2);
    std::stop_source enough;
    std::jthread big{[&] { static_cast<void>(calls.weighted(3).try_acquire_for(patience, enough.get_token())); }};
    ASSERT_TRUE(asleep(1));
    EXPECT_TRUE(calls.try_acquire());
    EXPECT_TRUE(calls.weighted(2).try_acquire());
    enough.request_stop();
}

}  // namespace
}  // namespace tranca::semaphore_test
