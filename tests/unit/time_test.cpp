// Durations as the server gets them, and deadlines.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

#include <tranca/time.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using float_seconds = std::chrono::duration<double>;
using float_milliseconds = std::chrono::duration<double, std::milli>;
using long_double_days = std::chrono::duration<long double, std::ratio<86'400>>;

TEST(CeilMilliseconds, KeepsWholeOnes) {
    EXPECT_EQ(ceil_milliseconds(0ms), 0ms);
    EXPECT_EQ(ceil_milliseconds(5ms), 5ms);
    EXPECT_EQ(ceil_milliseconds(2s), 2'000ms);
    EXPECT_EQ(ceil_milliseconds(3h), 10'800'000ms);
    EXPECT_EQ(ceil_milliseconds(float_seconds{0.25}), 250ms);
}

TEST(CeilMilliseconds, RoundsAFractionUp) {
    EXPECT_EQ(ceil_milliseconds(1ns), 1ms);
    EXPECT_EQ(ceil_milliseconds(400us), 1ms);
    EXPECT_EQ(ceil_milliseconds(1'500us), 2ms);
    EXPECT_EQ(ceil_milliseconds(999'999ns), 1ms);
    EXPECT_EQ(ceil_milliseconds(1'000'001ns), 2ms);
    EXPECT_EQ(ceil_milliseconds(float_milliseconds{1.5}), 2ms);
    EXPECT_EQ(ceil_milliseconds(float_seconds{1e-300}), 1ms);
    EXPECT_EQ(ceil_milliseconds(float_seconds{std::numeric_limits<double>::denorm_min()}), 1ms);
}

TEST(CeilMilliseconds, RoundsANegativeFractionUpToo) {
    EXPECT_EQ(ceil_milliseconds(-400us), 0ms);
    EXPECT_EQ(ceil_milliseconds(-1'500us), -1ms);
    EXPECT_EQ(ceil_milliseconds(float_milliseconds{-1.5}), -1ms);
}

TEST(CeilMilliseconds, SaturatesWhatMillisecondsCannotHold) {
    constexpr auto most = milliseconds::max();
    constexpr auto least = milliseconds::min();
    EXPECT_EQ(ceil_milliseconds(std::chrono::hours::max()), most);
    EXPECT_EQ(ceil_milliseconds(std::chrono::hours::min()), least);
    EXPECT_EQ(ceil_milliseconds(std::chrono::duration<std::int64_t>::max()), most);
    EXPECT_EQ(ceil_milliseconds(std::chrono::duration<std::int64_t>::min()), least);
    EXPECT_EQ(ceil_milliseconds(long_double_days::max()), most);
    EXPECT_EQ(ceil_milliseconds(float_seconds{std::numeric_limits<double>::infinity()}), most);
    EXPECT_EQ(ceil_milliseconds(float_seconds{-std::numeric_limits<double>::infinity()}), least);
}

TEST(CeilMilliseconds, KeepsTheLargestThatMillisecondsCanHold) {
    EXPECT_EQ(ceil_milliseconds(milliseconds::max() - 1ms), milliseconds::max() - 1ms);
    EXPECT_EQ(ceil_milliseconds(milliseconds::min() + 1ms), milliseconds::min() + 1ms);
    EXPECT_EQ(ceil_milliseconds(std::chrono::nanoseconds::max()), 9'223'372'036'855ms);
    EXPECT_EQ(ceil_milliseconds(std::chrono::nanoseconds::min()), -9'223'372'036'854ms);
}

TEST(CeilMilliseconds, RefusesWhatIsNotANumber) {
    const auto failure =
        thrown_by([] { return ceil_milliseconds(float_seconds{std::numeric_limits<double>::quiet_NaN()}); });
    EXPECT_EQ(failure.code(), errc::invalid_argument);
    EXPECT_THAT(failure.text(), HasSubstr("not a number"));
}

// Never less than the value, and by less than a millisecond more: for every count of microseconds of a few milliseconds.
TEST(CeilMilliseconds, IsTheSmallestThatIsNotLess) {
    for (std::int64_t count = -3'000; count <= 3'000; ++count) {
        const std::chrono::microseconds exact{count};
        const auto rounded = ceil_milliseconds(exact);
        ASSERT_GE(rounded, exact) << count;
        ASSERT_LT(rounded - exact, 1ms) << count;
        ASSERT_EQ(ceil_milliseconds(std::chrono::duration<double, std::micro>{exact}), rounded) << count;
    }
}

TEST(CeilMilliseconds, IsDoneByTheCompilerWhereItCan) { static_assert(ceil_milliseconds(1'001us) == 2ms); }

TEST(RequirePositive, TakesOneMillisecondToOneHundredYears) {
    EXPECT_NO_THROW(require_positive(1ms, "ttl"));
    EXPECT_NO_THROW(require_positive(longest_duration, "ttl"));
}

TEST(RequirePositive, RefusesWithTheOptionAndTheNumber) {
    for (const auto value : {0ms, -1ms, milliseconds{-1h}, milliseconds::min()}) {
        const auto failure = thrown_by([&] { require_positive(value, "connect_timeout"); });
        EXPECT_EQ(failure.code(), errc::invalid_argument);
        EXPECT_THAT(failure.text(), HasSubstr("connect_timeout (" + std::to_string(value.count()) + " ms)"));
    }
}

TEST(RequirePositive, RefusesMoreThanOneHundredYearsWithBothNumbers) {
    for (const auto value : {longest_duration + 1ms, milliseconds::max()}) {
        const auto failure = thrown_by([&] { require_positive(value, "ttl"); });
        EXPECT_EQ(failure.code(), errc::invalid_argument);
        EXPECT_THAT(failure.text(), HasSubstr("ttl (" + std::to_string(value.count()) + " ms)"));
        EXPECT_THAT(failure.text(), HasSubstr(std::to_string(longest_duration.count()) + " ms"));
    }
}

TEST(RequireNotNegative, TakesZeroAndRefusesLess) {
    EXPECT_NO_THROW(require_not_negative(0ms, "wait"));
    EXPECT_NO_THROW(require_not_negative(milliseconds::max(), "wait"));
    const auto failure = thrown_by([] { require_not_negative(-1ms, "wait"); });
    EXPECT_EQ(failure.code(), errc::invalid_argument);
    EXPECT_THAT(failure.text(), HasSubstr("wait (-1 ms)"));
}

TEST(DeadlineAfter, IsTheSumWhereItFits) {
    const clock::time_point start{123'456ns};
    EXPECT_EQ(deadline_after(0ms, start), start);
    EXPECT_EQ(deadline_after(7ms, start), start + 7ms);
    EXPECT_EQ(deadline_after(-7ms, start), start - 7ms);
    EXPECT_EQ(deadline_after(longest_duration, start), start + longest_duration);
}

TEST(DeadlineAfter, IsTheEndOfTimeWhereTheSumDoesNotFit) {
    const auto now = clock::now();
    constexpr auto end = clock::time_point::max();
    EXPECT_EQ(deadline_after(milliseconds::max(), now), end);
    EXPECT_EQ(deadline_after(ceil_milliseconds(std::chrono::hours::max()), now), end);
    EXPECT_EQ(deadline_after(1ms, end), end);
    EXPECT_EQ(deadline_after(0ms, end), end);
    EXPECT_EQ(deadline_after(1ms, end - 1ns), end);
}

TEST(DeadlineAfter, NeverOverflowsWhereverItStarts) {
    constexpr auto least = clock::time_point::min();
    EXPECT_EQ(deadline_after(1ms, least), least + 1ms);
    EXPECT_EQ(deadline_after(milliseconds::max(), least), clock::time_point::max());
    EXPECT_EQ(deadline_after(milliseconds::min(), clock::time_point{}), least);
    EXPECT_EQ(deadline_after(-1ms, least), least);
    EXPECT_EQ(deadline_after(milliseconds::min(), clock::time_point::max()), least);
}

TEST(DeadlineAfter, CountsFromNowUnlessToldOtherwise) {
    const auto before = clock::now();
    const auto deadline = deadline_after(1h);
    EXPECT_GE(deadline, before + 1h);
    EXPECT_LE(deadline, clock::now() + 1h);
}

TEST(Clock, IsTheSteadyOne) { static_assert(std::is_same_v<clock, std::chrono::steady_clock> && clock::is_steady); }

}  // namespace
}  // namespace tranca::testing
