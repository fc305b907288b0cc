// Fourth rung: the clocks on the clients' walls decide who is in. Fifth rung: they only decide who is late.
#include "ladder/schedule.hpp"

namespace tranca::ladder_test {
namespace {

using ladder::clock_semaphore;
using ladder::fair_semaphore;
using ladder::wall_clock;

class WallClocks : public Ladder {
protected:
    template <class Semaphore>
    [[nodiscard]] Semaphore make(wall_clock now, std::int64_t limit = 1) const {
        return Semaphore{redis, "thing", limit, {.lease = {.ttl = 10s}, .now = std::move(now)}};
    }

    /// All slots are held; a client whose clock is off by `skew` tries. How many hold one then?
    template <class Semaphore>
    [[nodiscard]] int holders_with_a_clock_off_by(std::chrono::system_clock::duration skew, std::int64_t limit = 1) {
        raw.flush();
        std::vector<guard> held;
        for (std::int64_t i = 0; i < limit; ++i)
            held.push_back(make<Semaphore>(wall, limit).acquire());
        wall.advance(1ms);
        const auto other = make<Semaphore>(wall.skewed(skew), limit).try_acquire();
        int count = believers(other);
        for (const auto& one : held)
            count += one ? 1 : 0;
        return count;
    }

    /// Clocks agree, but a client is delayed after it has read its own: meanwhile another takes the only slot.
    template <class Semaphore>
    [[nodiscard]] int holders_when_one_is_delayed() {
        std::optional<guard> quick;
        const wall_clock slow = [&] {
            const auto read = wall.now();
            wall.advance(1ms);
            if (!quick) quick = make<Semaphore>(wall).try_acquire();
            return read;
        };
        const auto delayed = make<Semaphore>(slow).try_acquire();
        return believers(quick, delayed);
    }

    fake_clock wall;
};

TEST_F(WallClocks, OfTheSameTimeKeepOthersOut) {
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(0ms), 1);
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(0ms), 1);
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(0ms, 3), 3);
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(0ms, 3), 3);
}

TEST_F(WallClocks, TenMillisecondsSlowStealASlotOfAClockSemaphore) {
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(-10ms), 2);
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(-10ms, 3), 4);
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(-5s), 2);
}

TEST_F(WallClocks, ThatAreSlowStealNoSlotOfAFairSemaphore) {
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(-10ms), 1);
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(-10ms, 3), 3);
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(-5s), 1);
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(-1h), 1);
}

TEST_F(WallClocks, ReadTooEarlyStealASlotOfAClockSemaphore) {
    EXPECT_EQ(holders_when_one_is_delayed<clock_semaphore>(), 2);
}

TEST_F(WallClocks, ReadTooEarlyStealNoSlotOfAFairSemaphore) {
    EXPECT_EQ(holders_when_one_is_delayed<fair_semaphore>(), 1);
}

TEST_F(WallClocks, ThatAreFastExpireTheHoldersOfAClockSemaphore) {
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(9s), 1);
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(11s), 2);
    EXPECT_EQ(holders_with_a_clock_off_by<clock_semaphore>(1h), 2);
}

// What remains of that flaw on the next two rungs: their headers say so.
TEST_F(WallClocks, ThatAreFastByMoreThanTheTtlStillExpireTheHoldersOfAFairSemaphore) {
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(9s), 1);
    EXPECT_EQ(holders_with_a_clock_off_by<fair_semaphore>(11s), 2);
}

// Ten milliseconds fast are enough to expire a holder ten milliseconds before its time.
TEST_F(WallClocks, TenMillisecondsFastExpireAHolderTooEarly) {
    const auto held = make<clock_semaphore>(wall).acquire();
    wall.advance(10s - 5ms);
    EXPECT_FALSE(make<clock_semaphore>(wall).try_acquire());
    EXPECT_TRUE(make<clock_semaphore>(wall.skewed(10ms)).try_acquire());
}

TEST_F(WallClocks, BeforeTheirEpochAreUnderstood) {
    wall.set(std::chrono::system_clock::time_point{-3s});
    const auto held = make<clock_semaphore>(wall).acquire();
    wall.advance(1500ms);
    EXPECT_FALSE(make<clock_semaphore>(wall).try_acquire());
    wall.advance(8500ms);  // the ttl is over, and so is the epoch's first second
    EXPECT_TRUE(make<clock_semaphore>(wall).try_acquire());
}

}  // namespace
}  // namespace tranca::ladder_test
