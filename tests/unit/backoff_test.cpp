#include <gmock/gmock.h>

#include <vector>

#include <tranca/backoff.hpp>

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

const std::vector<milliseconds> some_lengths{0ms, 1ms, 7ms, 50ms, 999ms, 1000ms, 8s, 10s, 24h, milliseconds::max()};
const std::vector<double> some_chances{0.0, 0.25, 0.5, 0.999};

TEST(WaitSlice, KeepsItsThreeBounds) {
    for (const auto busy : some_lengths)
        for (const auto ttl : some_lengths)
            for (const auto chance : some_chances) {
                const auto slice = wait_slice(busy, ttl, chance);
                EXPECT_GT(slice, 0ms);
                EXPECT_LE(slice, longest_slice);
                EXPECT_LE(slice, std::max(std::min<milliseconds>(ttl, 1h) / 8, 5ms));
                EXPECT_LE(slice, std::min<milliseconds>(busy, 1s) + 11ms);
            }
}

TEST(WaitSlice, IsLongEnoughToBeNoPolling) {
    for (const auto chance : some_chances)
        EXPECT_GE(wait_slice(1h, 10s, chance), 500ms);
}

TEST(WaitSlice, SeesTheHoldersExpiryAndNotTheMomentBefore) {
    for (const auto chance : some_chances)
        EXPECT_GE(wait_slice(100ms, 10s, chance), 101ms);
}

TEST(WaitSlice, SpreadsACrowd) {
    EXPECT_GE(wait_slice(1h, 10s, 0.9) - wait_slice(1h, 10s, 0.1), 300ms);
    EXPECT_GE(wait_slice(100ms, 10s, 0.9) - wait_slice(100ms, 10s, 0.1), 7ms);
}

TEST(RetryPause, GrowsToItsBoundAndNoFurther) {
    for (const auto chance : some_chances)
        for (const auto busy : some_lengths)
            for (unsigned tries = 0; tries < 100; ++tries) {
                const auto pause = retry_pause(busy, tries, chance);
                EXPECT_GE(pause, 200us);
                EXPECT_LE(pause, 64ms);
                EXPECT_LE(pause, std::max(std::min<milliseconds>(busy, 1h), 1ms) + (busy == 0ms ? 64ms : 0ms));
            }
    EXPECT_LT(retry_pause(1h, 0, 0.999), 2ms);
    EXPECT_GT(retry_pause(1h, 50, 0.999), 60ms);
}

TEST(RetryPause, SpreadsACrowd) { EXPECT_GE(retry_pause(1h, 5, 0.9) - retry_pause(1h, 5, 0.1), 30ms); }

}  // namespace
}  // namespace tranca::testing
