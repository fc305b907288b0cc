// Durations in buckets: the error of a quantile, the ends of the range, and threads that add at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <tranca/latency_histogram.hpp>

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr auto longest_of_all = nanoseconds::max();

// All that are small, and the neighbourhood of each bucket's beginning up to the end of the range.
std::vector<nanoseconds> durations_at_edges() {
    std::vector<nanoseconds> durations;
    for (std::int64_t small = 0; small < 5'000; ++small)
        durations.emplace_back(small);
    for (unsigned power = 12; power < 63; ++power)
        for (std::int64_t eighth = 8; eighth < 16; ++eighth)
            for (const std::int64_t beside : {-1, 0, 1})
                durations.emplace_back((eighth << (power - 3)) + beside);
    durations.push_back(longest_of_all - 1ns);
    durations.push_back(longest_of_all);
    return durations;
}

// Of every size from nanoseconds to hours, sorted; the same ones in every run.
std::vector<nanoseconds> durations_of_every_size(std::size_t count) {
    std::mt19937_64 random{1};
    std::vector<nanoseconds> durations(count);
    for (auto& duration : durations) {
        const auto bits = random();
        duration = nanoseconds{static_cast<std::int64_t>((bits >> 6U) >> (16 + bits % 40))};
    }
    std::sort(durations.begin(), durations.end());
    return durations;
}

void add_all(latency_histogram& times, const std::vector<nanoseconds>& durations) {
    for (const auto duration : durations)
        times.add(duration);
}

void expect_close(nanoseconds said, nanoseconds truth) {
    EXPECT_GE(said, truth);
    EXPECT_LE((said - truth).count(), truth.count() / 8) << truth.count();
}

TEST(LatencyHistogram, IsEmptyAtFirst) {
    const latency_histogram times;
    EXPECT_EQ(times.count(), 0U);
    EXPECT_EQ(times.sum(), 0ns);
    for (const double portion : {0.0, 0.5, 1.0})
        EXPECT_EQ(times.quantile(portion), 0ns);
    EXPECT_EQ(times.cumulative(std::array{nanoseconds{1}, longest_of_all}), (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST(LatencyHistogram, TellsOneDurationToAnEighthAndNeverLess) {
    for (const auto duration : durations_at_edges()) {
        latency_histogram times;
        times.add(duration);
        for (const double portion : {0.0, 0.5, 1.0})
            expect_close(times.quantile(portion), duration);
        EXPECT_EQ(times.count(), 1U);
    }
}

TEST(LatencyHistogram, TellsDurationsOfLessThanSixteenNanosecondsExactly) {
    for (auto duration = 0ns; duration < 16ns; ++duration) {
        latency_histogram times;
        times.add(duration);
        EXPECT_EQ(times.quantile(1), duration);
    }
}

TEST(LatencyHistogram, TellsEveryQuantileToAnEighthAndNeverLess) {
    for (const std::size_t count : {1U, 2U, 3U, 10U, 100U, 997U}) {
        const auto durations = durations_of_every_size(count);
        latency_histogram times;
        add_all(times, durations);
        expect_close(times.quantile(0), durations.front());
        for (std::size_t rank = 1; rank <= count; ++rank)
            expect_close(times.quantile(static_cast<double>(rank) / static_cast<double>(count)), durations[rank - 1]);
    }
}

TEST(LatencyHistogram, TakesAPortionOutOfRangeForTheNearerEnd) {
    latency_histogram times;
    add_all(times, {1ns, 2ns, 3ns});
    EXPECT_EQ(times.quantile(-1), 1ns);
    EXPECT_EQ(times.quantile(-std::numeric_limits<double>::infinity()), 1ns);
    EXPECT_EQ(times.quantile(std::numeric_limits<double>::quiet_NaN()), 1ns);
    EXPECT_EQ(times.quantile(1e-300), 1ns);
    EXPECT_EQ(times.quantile(2), 3ns);
    EXPECT_EQ(times.quantile(std::numeric_limits<double>::infinity()), 3ns);
}

TEST(LatencyHistogram, CountsANegativeDurationAsZero) {
    latency_histogram times;
    add_all(times, {-1ns, -1h, nanoseconds::min()});
    EXPECT_EQ(times.count(), 3U);
    EXPECT_EQ(times.sum(), 0ns);
    EXPECT_EQ(times.quantile(1), 0ns);
}

TEST(LatencyHistogram, SumsExactly) {
    latency_histogram times;
    std::int64_t sum = 0;
    for (const auto duration : durations_of_every_size(1'000)) {
        times.add(duration);
        sum += duration.count();
        ASSERT_EQ(times.sum().count(), static_cast<double>(sum));
    }
    ASSERT_LT(sum, std::int64_t{1} << 53U) << "or else the comparison is not exact";
}

TEST(LatencyHistogram, SumsTheLongestDurationsWithoutOverflow) {
    latency_histogram times;
    for (int count = 1; count <= 1'000; ++count) {
        times.add(longest_of_all);
        ASSERT_DOUBLE_EQ(times.sum().count(), static_cast<double>(longest_of_all.count()) * count);
    }
    EXPECT_EQ(times.quantile(0), longest_of_all);
}

TEST(LatencyHistogram, CountsUpToABoundToAnEighthAndNeverMore) {
    const auto durations = durations_of_every_size(1'000);
    latency_histogram times;
    add_all(times, durations);
    const auto bounds = durations_at_edges();
    const auto counts = times.cumulative(bounds);
    ASSERT_EQ(counts.size(), bounds.size() + 1);
    const auto not_longer_than = [&](nanoseconds bound) {
        return std::upper_bound(durations.begin(), durations.end(), bound) - durations.begin();
    };
    for (std::size_t index = 0; index < bounds.size(); ++index) {
        const auto said = static_cast<std::ptrdiff_t>(counts[index]);
        EXPECT_LE(said, not_longer_than(bounds[index])) << bounds[index].count();
        EXPECT_GE(said, not_longer_than(bounds[index] - bounds[index] / 8 - 1ns)) << bounds[index].count();
    }
    EXPECT_EQ(counts.back(), durations.size());
}

TEST(LatencyHistogram, CountsUpToABoundThatEndsABucketExactly) {
    latency_histogram times;
    add_all(times, {0ns, 7ns, 8ns, 1023ns, 1024ns, longest_of_all});
    const std::array bounds{nanoseconds{-1}, 0ns, 7ns, 8ns, 1023ns, 1151ns, longest_of_all - 1ns, longest_of_all};
    EXPECT_EQ(times.cumulative(bounds), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 5, 6, 6}));
}

TEST(LatencyHistogram, LosesNothingWhenThreadsAddAtOnce) {
    constexpr std::int64_t adds = 100'000;
    latency_histogram times;
    std::latch start{4};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&times, &start, thread] {
            start.arrive_and_wait();
            for (std::int64_t add = 0; add < adds; ++add)
                times.add(add % 2 == 0 ? 1us * (thread + 1) : 3ms);
        });
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(times.count(), 4U * adds);
    EXPECT_EQ(times.sum(), adds / 2 * (10us + 4 * 3ms));
    EXPECT_EQ(times.cumulative(std::array{nanoseconds{1ms}}), (std::vector<std::uint64_t>{2U * adds, 4U * adds}));
}

TEST(LatencyHistogram, NeverGoesDownWhileOthersAdd) {
    latency_histogram times;
    std::atomic<bool> done{false};
    std::thread writer{[&] {
        while (!done)
            for (const auto duration : {1ns, nanoseconds{1ms}, nanoseconds{1min}})
                times.add(duration);
    }};
    std::uint64_t count = 0;
    auto sum = times.sum();
    auto counts = times.cumulative(std::array{nanoseconds{1us}, nanoseconds{1s}});
    for (int reading = 0; reading < 500; ++reading) {
        const auto next = times.cumulative(std::array{nanoseconds{1us}, nanoseconds{1s}});
        EXPECT_TRUE(std::is_sorted(next.begin(), next.end()));
        for (std::size_t index = 0; index < next.size(); ++index)
            EXPECT_GE(next[index], counts[index]);
        EXPECT_GE(times.count(), count);
        EXPECT_GE(times.sum(), sum);
        count = times.count(), sum = times.sum(), counts = next;
    }
    done = true;
    writer.join();
}

}  // namespace
}  // namespace tranca::testing
