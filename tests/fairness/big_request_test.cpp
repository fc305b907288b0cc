// A line of those who want one and of those who want several permits.
#include <memory>
#include <thread>

#include "semaphore/semaphore_fixture.hpp"

namespace tranca::fairness_test {
namespace {

using namespace std::chrono_literals;
using testing::eventually;

class FairSemaphore : public semaphore_test::semaphore_fixture {
protected:
    [[nodiscard]] semaphore fair(std::int64_t limit) const {
        return {redis, "thing", limit, {.lease = {.ttl = 10s}, .fairness = fairness::on}};
    }
    [[nodiscard]] bool in_line(std::int64_t count) {
        return eventually(10s, [&] { return raw.must({"ZCARD", "{semaphore:thing}:queue"}).integer == count; });
    }
};

TEST_F(FairSemaphore, ServesABigRequestInItsTurn) {
    const auto calls = fair(3);
    auto one = calls.acquire(), two = calls.acquire(), three = calls.acquire();
    std::atomic<int> big_at{0}, small_at{0}, turn{0};
    std::jthread big{[&] {
        const auto held = calls.weighted(3).acquire();
        big_at = ++turn;
        EXPECT_EQ(held.slots().size(), 3u);
    }};
    ASSERT_TRUE(in_line(1));
    std::jthread small{[&] {
        const auto held = calls.acquire();
        small_at = ++turn;
    }};
    ASSERT_TRUE(in_line(2));
    one.release();
    two.release();
    EXPECT_TRUE(testing::throughout(200ms, [&] { return turn == 0; })) << "two are free, the first one wants three";
    three.release();
    big.join();
    small.join();
    EXPECT_EQ(big_at, 1);
    EXPECT_EQ(small_at, 2);
}

TEST_F(FairSemaphore, ServesAsManyAsThereIsRoomFor) {
    const auto calls = fair(4);
    auto all = calls.weighted(4).acquire();
    std::atomic<int> inside{0};
    std::atomic<bool> stop{false};
    std::vector<std::jthread> waiters;
    for (int i = 0; i < 4; ++i)
        waiters.emplace_back([&] {
            const auto held = calls.acquire();
            ++inside;
            EXPECT_TRUE(eventually(10s, [&] { return stop.load(); }));
        });
    ASSERT_TRUE(in_line(4));
    all.release();
    EXPECT_TRUE(eventually(450ms, [&] { return inside == 4; })) << inside << ": a slice is half a second at most";
    stop = true;
}

// More than there is, since the limit was lowered: it waits, and nobody waits for it.
TEST_F(FairSemaphore, LetsNobodyWaitForWhatThereIsNot) {
    const auto calls = fair(3);
    auto held = calls.weighted(3).acquire();
    std::jthread big{[&] { EXPECT_FALSE(calls.weighted(3).try_acquire_for(1500ms)); }};
    ASSERT_TRUE(in_line(1));
    calls.set_limit(2);
    held.release();
    EXPECT_TRUE(calls.try_acquire_for(1s));
}

TEST_F(FairSemaphore, HearsOfARaisedLimit) {
    const auto calls = fair(1);
    const auto held = calls.acquire();
    std::jthread waiter{[&] { EXPECT_TRUE(calls.try_acquire_for(10s)); }};
    ASSERT_TRUE(in_line(1));
    calls.set_limit(2);
    const testing::stopwatch since;
    waiter.join();
    EXPECT_LT(since.elapsed(), 900ms) << "half a waiter lease";
}

}  // namespace
}  // namespace tranca::fairness_test
