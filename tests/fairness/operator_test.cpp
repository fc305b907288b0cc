// What an operator sees of a mutex with a line, and does to it.
#include <thread>

#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"

#include <tranca/tranca.hpp>

namespace tranca::fairness_test {
namespace {

using namespace std::chrono_literals;

class LineOfAMutex : public testing::redis_fixture {
protected:
    client redis{server.url()};
    const mutex press{redis, "thing", {.fairness = fairness::on}};
};

TEST_F(LineOfAMutex, ShowsThatSomebodyWaits) {
    auto held = press.acquire();
    EXPECT_FALSE(press.inspect().waiters);
    std::jthread waiter{[&] { EXPECT_TRUE(press.try_acquire_for(10s)); }};
    EXPECT_TRUE(testing::eventually(10s, [&] { return press.inspect().waiters; }));
    const auto all = find_locks(redis, "lock:*");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_TRUE(all.front().waiters);
    held.release();
    waiter.join();
    EXPECT_FALSE(press.inspect().waiters);
}

TEST_F(LineOfAMutex, TakenAwayByForceGoesToTheFirstInLine) {
    EXPECT_TRUE(testing::once_below(200ms, [&] {  // a slice is longer
        const auto held = press.acquire();
        std::jthread waiter{[&] { EXPECT_TRUE(press.try_acquire_for(10s)); }};
        EXPECT_TRUE(testing::eventually(10s, [&] { return press.inspect().waiters; }));
        EXPECT_TRUE(testing::eventually(10s, [&] { return raw.info("blocked_clients") == "1"; }));
        const testing::stopwatch since;
        EXPECT_TRUE(press.force_release());
        waiter.join();
        return since.elapsed();
    }));
}

// Nobody is in line, and nothing is known of anybody: the answer to a release can wait for the next use.
TEST_F(LineOfAMutex, DefersItsReleaseOnlyWhileNobodyIsInLine) {
    const mutex lazy{redis, "other", {.release = release_mode::deferred, .fairness = fairness::on}};
    auto alone = lazy.acquire();
    EXPECT_EQ(alone.release(), release_result::released);
    auto held = lazy.acquire();
    std::jthread waiter{[&] { EXPECT_TRUE(lazy.try_acquire_for(10s)); }};
    ASSERT_TRUE(testing::eventually(10s, [&] { return lazy.inspect().waiters; }));
    const testing::stopwatch since;
    held.release();
    waiter.join();
    EXPECT_LT(since.elapsed(), 400ms);
}

}  // namespace
}  // namespace tranca::fairness_test
