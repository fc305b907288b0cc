// Those who wait stand in a line on the server: in the order of arrival, and nobody holds up the others for long.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "fairness/fair_model.hpp"
#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"

namespace tranca::fairness_test {
namespace {

using testing::child_process;
using testing::eventually;
using testing::once_below;
using testing::stopwatch;

class Line : public testing::redis_fixture, public ::testing::WithParamInterface<fair_model> {
protected:
    [[nodiscard]] any_primitive made(milliseconds ttl = 10s, milliseconds waiter_lease = 1s) const {
        return GetParam().make(redis, ttl, waiter_lease);
    }
    [[nodiscard]] std::int64_t waiting() { return raw.must({"ZCARD", GetParam().queue_key()}).integer; }
    [[nodiscard]] bool in_line(std::int64_t count) {
        return eventually(10s, [&] { return waiting() == count; });
    }
    [[nodiscard]] std::string first_in_line() { return raw.must({"ZRANGE", GetParam().queue_key(), "0", "0"})[0].text; }
    [[nodiscard]] bool is_free() { return raw.exists(GetParam().main_key) == 0; }

    /// Another process that waits for it, holds it until it is killed.
    [[nodiscard]] std::unique_ptr<child_process> waiting_child(milliseconds waiter_lease) {
        return std::make_unique<child_process>([this, waiter_lease] {
            const client own{server.url()};
            const auto held = GetParam().make(own, 10s, waiter_lease).acquire();
            std::this_thread::sleep_for(60s);
        });
    }

    client redis{server.url()};
};

INSTANTIATE_TEST_SUITE_P(Every, Line, ::testing::ValuesIn(fair_models()), title_of_fair);

using FairMutex = testing::redis_fixture;

TEST_P(Line, IsServedInTheOrderOfArrival) {
    constexpr int count = 12;
    auto held = made().acquire();
    std::mutex guarding;
    std::vector<int> order;
    std::vector<std::uint64_t> fences;
    std::vector<std::jthread> waiters;
    for (int i = 0; i < count; ++i) {
        waiters.emplace_back([&, i] {
            const auto mine = made().acquire();
            const std::lock_guard lock{guarding};
            order.push_back(i);
            fences.push_back(mine.fence().value_or(0));
        });
        ASSERT_TRUE(in_line(i + 1));
    }
    held.release();
    waiters.clear();
    ASSERT_EQ(order.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << ::testing::PrintToString(order);
    EXPECT_TRUE(std::is_sorted(fences.begin(), fences.end())) << ::testing::PrintToString(fences);
}

// A slice is half a waiter lease: the order must not be that of who woke up last.
TEST_P(Line, KeepsItsOrderOverManySlices) {
    auto held = made(10s, 40ms).acquire();
    std::mutex guarding;
    std::vector<int> order;
    std::vector<std::jthread> waiters;
    for (int i = 0; i < 6; ++i) {
        waiters.emplace_back([&, i] {
            const auto mine = made(10s, 2s).acquire();
            const std::lock_guard lock{guarding};
            order.push_back(i);
        });
        ASSERT_TRUE(in_line(i + 1));
    }
    const auto sign = GetParam().seen_key(first_in_line());
    std::int64_t least = raw.pttl(sign);
    EXPECT_TRUE(eventually(10s, [&] {
        const auto left = raw.pttl(sign);
        least = std::min(least, left);
        return left > least + 200;
    })) << "the first one was heard of again";
    held.release();
    waiters.clear();
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << ::testing::PrintToString(order);
}

TEST_P(Line, IsNotOvertakenByWhoeverJustTries) {
    auto held = made().acquire();
    const auto stopped = waiting_child(1s);
    ASSERT_TRUE(in_line(1));
    stopped->freeze();
    held.release();
    EXPECT_TRUE(is_free());
    EXPECT_FALSE(made().try_acquire()) << "one who does not answer is still first";
    EXPECT_TRUE(is_free()) << "and nothing was granted to it behind its back";
    stopped->kill_hard();
}

// Frozen, killed or gone: the next one waits for a waiter lease at most.
TEST_P(Line, WaitsForASilentOneNoLongerThanItsWaiterLease) {
    for (const bool killed : {false, true}) {
        EXPECT_TRUE(once_below(600ms + 250ms, [&] {
            auto held = made().acquire();
            const auto silent = waiting_child(600ms);
            EXPECT_TRUE(in_line(1));
            std::atomic<bool> served{false};
            std::jthread next{[&] {
                const auto mine = made(10s, 600ms).acquire();
                served = true;
            }};
            EXPECT_TRUE(in_line(2));
            killed ? static_cast<void>(silent->kill_hard()) : silent->freeze();
            const stopwatch since_the_release;
            held.release();
            EXPECT_TRUE(eventually(10s, [&] { return served.load(); }));
            const auto took = since_the_release.elapsed();
            next.join();
            silent->kill_hard();
            EXPECT_EQ(waiting(), 0);
            return took;
        }));
    }
}

TEST_P(Line, LosesManySilentOnesAtOnce) {
    EXPECT_TRUE(once_below(600ms + 250ms, [&] {  // one waiter lease, not five
        auto held = made().acquire();
        std::vector<std::unique_ptr<child_process>> silent;
        for (int i = 0; i < 5; ++i) {
            silent.push_back(waiting_child(600ms));
            EXPECT_TRUE(in_line(i + 1));
        }
        std::jthread next{[&] { const auto mine = made(10s, 600ms).acquire(); }};
        EXPECT_TRUE(in_line(6));
        for (const auto& each : silent)
            each->kill_hard();
        const stopwatch since_the_release;
        held.release();
        next.join();
        return since_the_release.elapsed();
    }));
}

TEST_P(Line, IsLeftAtOnceByWhoeverGivesUp) {
    auto held = made().acquire();
    EXPECT_FALSE(made().try_acquire_for(30ms));
    EXPECT_EQ(waiting(), 0);
    std::stop_source stop;
    std::jthread waiter{[&] { EXPECT_FALSE(made().try_acquire_for(60s, stop.get_token())); }};
    ASSERT_TRUE(in_line(1));
    stop.request_stop();
    waiter.join();
    EXPECT_EQ(waiting(), 0);

    // The first one leaves, the second is called up when the lock becomes free.
    std::jthread first{[&] { EXPECT_FALSE(made().try_acquire_for(1s)); }};
    ASSERT_TRUE(in_line(1));
    std::jthread second{[&] { EXPECT_TRUE(made().try_acquire_for(10s)); }};
    ASSERT_TRUE(in_line(2));
    first.join();
    EXPECT_EQ(waiting(), 1);
    const stopwatch since_the_release;
    held.release();
    second.join();
    EXPECT_LT(since_the_release.elapsed(), 300ms);
}

// It gives up in the moment it is called up: the call must not be lost on it.
TEST_P(Line, PassesOnWhatReachesOneThatLeaves) {
    for (int round = 0; round < 30; ++round) {
        auto held = made().acquire();
        std::stop_source stop;
        std::jthread first{[&] { static_cast<void>(made().try_acquire_for(60s, stop.get_token())); }};
        ASSERT_TRUE(in_line(1));
        std::jthread second{[&] { EXPECT_TRUE(made().try_acquire_for(10s)); }};
        ASSERT_TRUE(in_line(2));
        const stopwatch since_the_release;
        std::jthread stopper{[&] { stop.request_stop(); }};
        held.release();
        stopper.join();
        first.join();
        second.join();
        EXPECT_LT(since_the_release.elapsed(), 400ms) << "in round " << round;
    }
}

TEST_P(Line, LetsOneThatWasSilentForLongInAtItsEnd) {
    auto held = made().acquire();
    const auto late = waiting_child(1s);
    ASSERT_TRUE(in_line(1));
    late->freeze();
    std::atomic<bool> served{false};
    std::jthread next{[&] {
        auto mine = made(10s, 1s).acquire();
        served = true;
        late->resume();
        EXPECT_TRUE(in_line(1)) << "back, behind whoever came meanwhile";
    }};
    ASSERT_TRUE(in_line(2));
    held.release();
    next.join();
    EXPECT_TRUE(served);
    EXPECT_TRUE(eventually(10s, [&] { return !is_free() && waiting() == 0; })) << "then it has its turn";
    late->kill_hard();
}

TEST_P(Line, MovesOnWhenTheHolderDies) {
    EXPECT_TRUE(once_below(500ms + 300ms, [&] {
        auto dead = std::make_unique<child_process>([&] {
            const client own{server.url()};
            const auto held = GetParam().make(own, 500ms, 1s).acquire();
            std::this_thread::sleep_for(60s);
        });
        EXPECT_TRUE(eventually(10s, [&] { return !is_free(); }));
        std::jthread waiter{[&] { EXPECT_TRUE(made().try_acquire_for(10s)); }};
        EXPECT_TRUE(in_line(1));
        dead->kill_hard();
        const stopwatch since_the_end;
        waiter.join();
        return since_the_end.elapsed();
    }));
}

TEST_P(Line, ForgottenByTheServerFormsAgain) {
    auto held = made(10s, 300ms).acquire();
    std::jthread waiter{[&] { EXPECT_TRUE(made(10s, 300ms).try_acquire_for(10s)); }};
    ASSERT_TRUE(in_line(1));
    raw.del(GetParam().queue_key());
    EXPECT_TRUE(in_line(1));
    raw.del(GetParam().seen_key(first_in_line()));
    EXPECT_TRUE(in_line(1));
    raw.flush();
    waiter.join();
}

TEST_P(Line, LeavesNothingBehindForLong) {
    auto held = made().acquire();
    std::jthread waiter{[&] { EXPECT_TRUE(made().try_acquire_for(10s)); }};
    ASSERT_TRUE(in_line(1));
    for (const auto& key : raw.keys())
        EXPECT_GT(raw.pttl(key), 0) << key;
    const auto first = first_in_line();
    held.release();
    waiter.join();
    EXPECT_EQ(raw.exists(GetParam().queue_key()), 0);
    EXPECT_EQ(raw.exists(GetParam().seen_key(first)), 0);
    for (const auto& key : raw.keys())
        EXPECT_GT(raw.pttl(key), 0) << key;
}

TEST_P(Line, TakesOnlyAWaiterLeaseThatMakesSense) {
    for (const auto bad : {0ms, -1ms, 9ms, 60'001ms})
        EXPECT_THROW(static_cast<void>(made(10s, bad)), error) << bad.count();
    EXPECT_NO_THROW(static_cast<void>(made(10s, 10ms)));
    EXPECT_NO_THROW(static_cast<void>(made(10s, 60'000ms)));
    const mutex_options untold{.waiters = waiters::none, .fairness = fairness::on};
    EXPECT_THROW((mutex{redis, "thing", untold}), error);
}

TEST_P(Line, CostsFourCommandsATurn) {
    const auto costs = [&] {
        auto held = made().acquire();
        std::jthread waiter{[&] { EXPECT_TRUE(made().try_acquire_for(10s)); }};
        EXPECT_TRUE(in_line(1));
        EXPECT_TRUE(eventually(10s, [&] { return raw.info("blocked_clients") == "1"; }));
        const auto scripts = raw.calls("evalsha"), blocks = raw.calls("blpop");
        held.release();
        waiter.join();
        return std::pair{raw.calls("evalsha") - scripts, raw.calls("blpop") - blocks};
    };
    auto [scripts, blocks] = costs();
    // Its slice may have ended just then: not twice.
    if (scripts != 3 || blocks > 1) std::tie(scripts, blocks) = costs();
    EXPECT_EQ(scripts, 3) << "two releases and one more acquire";
    // It was asleep already, and woken once; Redis 8 counts it again when it is served.
    EXPECT_LE(blocks, 1);
}

// Called up, and asking by itself before it has seen that.
TEST_F(FairMutex, KeepsNoWakeUpThatItDidNotNeed) {
    const client redis{server.url()};
    const auto core = make_mutex_core(redis.pool(), key{"lock:thing"}, {.fairness = fairness::on, .waiter_lease = 1s});
    auto line = redis.pool()->borrow();
    const auto ask = [&](mutex_lease& candidate) {
        return candidate.hear(run(*line, candidate.acquire_call(true))).granted;
    };
    mutex_lease first{core}, second{core};
    ASSERT_TRUE(ask(first));
    ASSERT_FALSE(ask(second));
    run(*redis.pool(), first.release_call());
    const std::string list{second.wake_list()};
    ASSERT_EQ(raw.exists(list), 1);
    EXPECT_TRUE(ask(second));
    EXPECT_EQ(raw.exists(list), 0);
}

// Its script makes one in any case; that it was not asked for must not make the grant unreadable.
TEST_F(FairMutex, HasAFenceEvenIfNoneIsAskedFor) {
    const client redis{server.url()};
    const mutex lock{redis, "thing", {.fencing = fencing::off, .fairness = fairness::on}};
    auto held = lock.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_TRUE(held->fence());
    EXPECT_TRUE(held->extend());
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_TRUE(lock.try_acquire_for(5s));
}

}  // namespace
}  // namespace tranca::fairness_test
