// Fifth rung: the number is taken in one round trip and the rank read in the next. Sixth rung: one at a time.
#include "ladder/schedule.hpp"

namespace tranca::ladder_test {
namespace {

using ladder::fair_semaphore;
using ladder::guarded_semaphore;
using testing::named;
using testing::nth;

class Counter : public Ladder {
protected:
    template <class Semaphore>
    [[nodiscard]] static Semaphore make(const client& of, std::int64_t limit) {
        if constexpr (std::same_as<Semaphore, guarded_semaphore>)
            return Semaphore{of, "thing", limit, {.lease = {.ttl = 60s}, .helper_ttl = 60s}};
        else return Semaphore{of, "thing", limit, {.lease = {.ttl = 60s}}};
    }

    /// One slot is left. A client has taken its number and is held before it can rank; another one comes. `meanwhile`
    /// is what happens between the two. How many hold a slot at the end?
    template <class Semaphore>
    [[nodiscard]] int holders_when_one_is_held_in_the_middle(std::int64_t limit,
                                                             const std::function<void()>& meanwhile) {
        raw.flush();
        tcp_gate gate{server.tcp()};
        const client slow{gate.url() + "?command_timeout=60s"};
        std::vector<guard> held;
        for (std::int64_t i = 1; i < limit; ++i)
            held.push_back(make<Semaphore>(redis, limit).acquire());
        { const auto rights_are_checked = make<Semaphore>(slow, limit).acquire(); }
        gate.hold(nth(2, named("MULTI")));
        attempt_in_background first{[&] { return make<Semaphore>(slow, limit).try_acquire(); }};
        EXPECT_TRUE(first.stands_at(gate));
        meanwhile();
        const auto second = make<Semaphore>(redis, limit).try_acquire();
        gate.let_go();
        int count = believers(first.result(), second);
        for (const auto& one : held)
            count += one ? 1 : 0;
        return count;
    }

    /// One attempt; nothing if it was refused as out of range, with a text that names the counter or its semaphore.
    [[nodiscard]] std::optional<guard> attempt_or_refusal() const {
        try {
            return fair_semaphore{redis, "thing", 1}.try_acquire();
        } catch (const error& failure) {
            EXPECT_EQ(failure.reason(), errc::server) << failure.what();
            return std::nullopt;
        }
    }
};

TEST_F(Counter, TakenFirstAndRankedLaterLetsTwoIntoTheLastSlotOfAFairSemaphore) {
    EXPECT_EQ(holders_when_one_is_held_in_the_middle<fair_semaphore>(1, [] {}), 2);
    EXPECT_EQ(holders_when_one_is_held_in_the_middle<fair_semaphore>(3, [] {}), 4);
}

TEST_F(Counter, TakenUnderALockLetsExactlyTheLimitIntoAGuardedSemaphore) {
    EXPECT_EQ(holders_when_one_is_held_in_the_middle<guarded_semaphore>(1, [] {}), 1);
    EXPECT_EQ(holders_when_one_is_held_in_the_middle<guarded_semaphore>(3, [] {}), 3);
}

TEST_F(Counter, TakenByAClientThatIsPausedForLongerThanTheLockOverrunsAGuardedSemaphore) {
    const auto lock_runs_out = [&] { raw.must({"PEXPIREAT", "lock:thing", "1000"}); };
    EXPECT_EQ(holders_when_one_is_held_in_the_middle<guarded_semaphore>(1, lock_runs_out), 2);
}

// Scores are doubles: beyond 2^53 two numbers can be one, and then the names decide who was first.
TEST_F(Counter, BeyondWhatADoubleCanTellApartIsRefused) {
    constexpr std::int64_t last = std::int64_t{1} << 53;
    for (std::int64_t start = last - 3; start < last + 5; ++start)
        for (int i = 0; i < 10; ++i) {
            raw.flush();
            raw.set("thing:counter", std::to_string(start));
            const auto first = attempt_or_refusal();
            const auto second = attempt_or_refusal();
            ASSERT_LE(believers(first, second), 1) << start;
            ASSERT_TRUE(first || start >= last - 1) << start;
        }
}

TEST_F(Counter, BeyondWhatTheServerCountsIsToldAndLeavesNothing) {
    for (const std::string text : {"9223372036854775807", "many", "1.5"}) {
        raw.set("thing:counter", text);
        EXPECT_FALSE(attempt_or_refusal()) << text;
        EXPECT_EQ(raw.keys(), std::vector<std::string>{"thing:counter"}) << text;
    }
}

}  // namespace
}  // namespace tranca::ladder_test
