// How long a caller waits: exactly one attempt without time, never past the deadline, a last attempt at it.
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "contract/contract.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::contract {
namespace {

using testing::monitor_reader;

class Waiting : public contract {
protected:
    /// The foreign holder goes once somebody was refused because of it; `then` is called when it has gone.
    [[nodiscard]] std::jthread vacate_after_a_refusal(std::function<void()> then = [] {}) {
        return std::jthread{[this, then = std::move(then)] {
            EXPECT_TRUE(wait_for_a_refusal());
            auto own = server.raw();
            of.vacate(own, name);
            then();
        }};
    }
};

using WaitingAtRest = Waiting;

TEST_P(Waiting, WithNoTimeIsExactlyOneAttempt) {
    const auto primitive = make();
    warm_up(primitive);
    for (int i = 1; i <= 300; ++i) {
        EXPECT_TRUE(primitive.try_acquire_for(0ms));
        ASSERT_EQ(attempts(), i);
    }
    occupy();
    raw.reset_stats();
    for (int i = 1; i <= 300; ++i) {
        EXPECT_FALSE(primitive.try_acquire_for(0ms));
        ASSERT_EQ(attempts(), i);
    }
}

TEST_P(Waiting, UntilAPointInThePastIsExactlyOneAttempt) {
    const auto primitive = make();
    warm_up(primitive);
    for (const auto past : {clock::time_point::min(), clock::time_point{}, clock::now() - 1s, clock::now()}) {
        raw.reset_stats();
        EXPECT_TRUE(primitive.try_acquire_until(past));
        EXPECT_EQ(attempts(), 1);
    }
    occupy();
    raw.reset_stats();
    EXPECT_FALSE(primitive.try_acquire_until(clock::time_point::min()));
    EXPECT_EQ(attempts(), 1);
}

TEST_P(Waiting, ForANegativeTimeIsRefusedBeforeAnythingIsSent) {
    const auto primitive = make();
    warm_up(primitive);
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    for (const milliseconds wait : {-1ms, milliseconds{-24h}, milliseconds::min()})
        EXPECT_TRUE(fails_with(errc::invalid_argument, [&] { static_cast<void>(primitive.try_acquire_for(wait)); }));
    using limits = std::numeric_limits<double>;
    for (const double wait : {limits::quiet_NaN(), -limits::infinity(), -1e300, -0.5})
        EXPECT_TRUE(fails_with(errc::invalid_argument, [&] {
            static_cast<void>(primitive.try_acquire_for(any_primitive::fraction{wait}));
        })) << wait;
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
}

TEST_P(Waiting, ForMoreThanForEverIsForEver) {
    const auto primitive = make();
    using limits = std::numeric_limits<double>;
    EXPECT_TRUE(primitive.try_acquire_for(milliseconds::max()));
    EXPECT_TRUE(primitive.try_acquire_for(std::chrono::hours::max()));
    for (const double wait : {limits::infinity(), limits::max()})
        EXPECT_TRUE(primitive.try_acquire_for(any_primitive::fraction{wait}));
    occupy();
    raw.reset_stats();
    const auto other = vacate_after_a_refusal();
    EXPECT_TRUE(primitive.try_acquire_for(milliseconds::max()));
}

TEST_P(Waiting, ForLessThanAMillisecondIsRoundedUp) {
    occupy();
    const auto primitive = make();
    // Now and at the deadline a millisecond later - unless the first attempt takes as long as that.
    EXPECT_TRUE(eventually(10s, [&] {
        raw.reset_stats();
        EXPECT_FALSE(primitive.try_acquire_for(any_primitive::fraction{1e-9}));
        return attempts() >= 2;
    }));
}

TEST_P(WaitingAtRest, EndsAtItsDeadlineWithALastAttempt) {
    const auto primitive = make({.poll = 1h});
    warm_up(primitive);
    bool acquired = false;
    // The last attempt comes before the end of the first slice. Where the machine stood still for so long that the holder
    // did not go in time, once more.
    EXPECT_TRUE(eventually(10s, [&] {
        occupy();
        raw.reset_stats();
        const stopwatch since_start;
        clock::duration vacated{};
        {
            const auto other = vacate_after_a_refusal([&] { vacated = since_start.elapsed(); });
            acquired = primitive.try_acquire_for(400ms).has_value();
            EXPECT_GE(since_start.elapsed(), 400ms);
            EXPECT_LT(since_start.elapsed(), 2s);
        }
        return acquired || vacated < 350ms;
    }));
    EXPECT_TRUE(acquired);
    EXPECT_EQ(attempts(), 2);
}

TEST_P(Waiting, EndsAtItsDeadlineWhenNothingComesFree) {
    occupy();
    const stopwatch since_start;
    EXPECT_FALSE(make().try_acquire_for(60ms));
    EXPECT_GE(since_start.elapsed(), 60ms);
    EXPECT_FALSE(make().try_acquire_until(clock::now() + 60ms));
    EXPECT_GE(since_start.elapsed(), 120ms);
    EXPECT_LT(since_start.elapsed(), 2s);
    EXPECT_TRUE(is_foreign());
}

TEST_P(Waiting, GetsItWhenItComesFree) {
    occupy();
    raw.reset_stats();
    const auto other = vacate_after_a_refusal();
    const guard held = make().acquire();
    EXPECT_TRUE(held);
    EXPECT_EQ(holders(), 1);
}

OVER_EVERY_MODEL(Waiting);

class WaitingWithTtl : public contract {};

TEST_P(WaitingWithTtl, MayTakeLongerThanTheTtl) {
    auto first = make({.ttl = 400ms}).acquire();
    first.abandon();
    EXPECT_TRUE(rival({.ttl = 100ms}).try_acquire_for(5s));
    occupy();
    const stopwatch since_start;
    EXPECT_FALSE(make({.ttl = 60s}).try_acquire_for(50ms));
    EXPECT_LT(since_start.elapsed(), 2s);
}

TEST_P(WaitingWithTtl, CountsTheLeaseFromTheWinningAttempt) {
    const milliseconds ttl = 1s;
    const auto start = clock::now();
    make({.ttl = ttl}).acquire().abandon();
    auto held = rival({.ttl = ttl}).try_acquire_for(10s);
    ASSERT_TRUE(held);
    // Sent when the first lease had ended, or a moment before, also as far as the server stood still then; less drift and
    // margin. One that waits without polling has sent its attempt before it slept, at most an eighth of its ttl ago. If
    // it counted from the start of the wait, a whole ttl would be missing.
    const auto ahead = of.polls ? 0ms : ttl / 8;
    EXPECT_GE(held->safe_until(), start + ttl + ttl - 102ms - ahead - 500ms);
    EXPECT_LE(held->safe_until(), clock::now() + 900ms);
    EXPECT_TRUE(held->extend());
}

TEST_P(WaitingWithTtl, CountsTheLeaseFromBeforeTheRequest) {
    const auto before = clock::now();
    const auto held = make({.ttl = 10s}).try_acquire();
    const auto after = clock::now();
    ASSERT_TRUE(held);
    const auto lease = 10s - 1ms - 10ms - 1s;  // less precision, drift and margin
    EXPECT_GE(held->safe_until(), before + lease);
    EXPECT_LE(held->safe_until(), after + lease);
}

OVER_MODELS_WHERE(has_ttl, WaitingWithTtl);
OVER_MODELS_WHERE(rests_until_told, WaitingAtRest);

}  // namespace
}  // namespace tranca::contract
