#include "histogram/histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace tranca::bench {
namespace {

TEST(Histogram, EmptyAnswersZero) {
    const auto empty = std::make_unique<histogram>();
    EXPECT_EQ(empty->count(), 0U);
    EXPECT_EQ(empty->mean(), 0.0);
    EXPECT_EQ(empty->quantile(0.5), 0.0);
}

TEST(Histogram, SmallValuesAreExact) {
    auto small = std::make_unique<histogram>();
    for (std::uint64_t value = 1; value <= 100; ++value)
        small->record(value);
    EXPECT_EQ(small->quantile(0.5), 50.0);
    EXPECT_EQ(small->quantile(0.99), 99.0);
    EXPECT_EQ(small->quantile(0.0), 1.0);
    EXPECT_EQ(small->quantile(1.0), 100.0);
    EXPECT_DOUBLE_EQ(small->mean(), 50.5);
}

TEST(Histogram, EveryValueLandsWithinOneSixtyFourth) {
    for (int bit = 0; bit < 64; ++bit) {
        for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << bit) - 1}) {
            const auto value = (std::uint64_t{1} << bit) + offset;
            auto one = std::make_unique<histogram>();
            one->record(value);
            const auto exact = static_cast<double>(value);
            EXPECT_NEAR(one->quantile(0.5), exact, exact / 64) << value;
        }
    }
}

TEST(Histogram, TakesTheLargestAndTheSmallestValue) {
    auto ends = std::make_unique<histogram>();
    ends->record(0);
    ends->record(std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(ends->count(), 2U);
    EXPECT_EQ(ends->quantile(0.5), 0.0);
    EXPECT_GT(ends->quantile(0.51), 1.8e19);
}

TEST(Histogram, QuantilesOfManyValuesMatchTheSortedList) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> waits(11, 2);
    std::vector<std::uint64_t> values(20'000);
    auto many = std::make_unique<histogram>();
    for (auto& value : values) {
        value = static_cast<std::uint64_t>(waits(random));
        many->record(value);
    }
    std::sort(values.begin(), values.end());
    for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
        const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))) - 1;
        const auto exact = static_cast<double>(values[rank]);
        EXPECT_NEAR(many->quantile(q), exact, exact / 64 + 1) << q;
    }
}

TEST(Histogram, MergedIsAsIfRecordedInOne) {
    auto left = std::make_unique<histogram>(), right = std::make_unique<histogram>(),
         both = std::make_unique<histogram>();
    for (std::uint64_t value = 0; value < 5'000; ++value) {
        (value % 3 == 0 ? *left : *right).record(value * value);
        both->record(value * value);
    }
    left->merge(*right);
    EXPECT_EQ(left->count(), both->count());
    EXPECT_DOUBLE_EQ(left->mean(), both->mean());
    for (const double q : {0.1, 0.5, 0.99})
        EXPECT_EQ(left->quantile(q), both->quantile(q));
}

}  // namespace
}  // namespace tranca::bench
