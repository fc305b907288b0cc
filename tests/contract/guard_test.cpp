// The one thing that owns: moved, replaced, dropped, handed over, kept in containers, left by an exception.
#include <deque>
#include <map>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "contract/contract.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::contract {
namespace {

using testing::monitor_reader;

static_assert(!std::is_copy_constructible_v<guard> && !std::is_copy_assignable_v<guard>);
static_assert(std::is_nothrow_move_constructible_v<guard> && std::is_nothrow_move_assignable_v<guard>);
static_assert(std::is_nothrow_default_constructible_v<guard> && std::is_nothrow_destructible_v<guard>);
static_assert(!std::is_convertible_v<guard, bool>, "only by asking for it");
static_assert(noexcept(std::declval<guard&>().release()) && noexcept(std::declval<guard&>().abandon()));

class Guard : public contract {
protected:
    [[nodiscard]] any_primitive make_named(const std::string& other) const { return make({.name = other}); }

    /// Releases of this name since the mark: commands of ours, not of a script, that begin with this key.
    [[nodiscard]] std::ptrdiff_t releases(const std::string& other) {
        return std::ranges::count_if(monitor.commands_since(mark), [&](const testing::monitored_command& one) {
            if (one.name() != "EVALSHA" || one.arguments.at(3) != of.key_of(other)) return false;
            // An acquire may be a script too; that one takes more than a token.
            return one.arguments.size() == 3 + std::stoul(one.arguments.at(2)) + 1;
        });
    }

    monitor_reader monitor{server};
    monitor_reader::mark_type mark{0};
};

TEST_P(Guard, ThatIsEmptyHoldsNothing) {
    guard empty;
    EXPECT_FALSE(empty);
    EXPECT_EQ(empty.safe_until(), clock::time_point::min());
    EXPECT_FALSE(empty.lost().stop_possible());
    EXPECT_FALSE(empty.fence());
    EXPECT_FALSE(empty.extend());
    EXPECT_FALSE(empty.extend(1s));
    EXPECT_EQ(empty.release(), release_result::expired);
    empty.abandon();
    EXPECT_EQ(empty.release(), release_result::expired);
}

TEST_P(Guard, ThatWasMovedFromHoldsNothing) {
    auto first = make().acquire();
    auto second = std::move(first);
    mark = monitor.mark();
    EXPECT_FALSE(first);                                  // NOLINT: that is the point
    EXPECT_FALSE(first.extend());                         // NOLINT
    EXPECT_EQ(first.release(), release_result::expired);  // NOLINT
    first.abandon();
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_TRUE(second);
    EXPECT_EQ(holders(), 1);
    EXPECT_EQ(second.release(), release_result::released);
}

TEST_P(Guard, ThatIsReplacedReleasesWhatItHeldExactlyOnce) {
    auto held = make_named("first").acquire();
    auto next = make_named("second").acquire();
    mark = monitor.mark();
    held = std::move(next);
    EXPECT_EQ(of.holders(raw, "first"), 0);
    EXPECT_EQ(of.holders(raw, "second"), 1);
    EXPECT_TRUE(held);
    EXPECT_EQ(releases("first"), 1);
    EXPECT_EQ(releases("second"), 0);
    held = guard{};
    EXPECT_EQ(of.holders(raw, "second"), 0);
    EXPECT_EQ(releases("second"), 1);
    EXPECT_EQ(events.size(), 0u) << events.text();
}

TEST_P(Guard, MovedIntoItselfStaysAsItIs) {
    auto held = make().acquire();
    auto& same = held;
    held = std::move(same);
    EXPECT_TRUE(held);
    EXPECT_EQ(holders(), 1);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(Guard, IsUsedAThousandTimesOverWithOneReleaseEach) {
    const auto primitive = make();
    warm_up(primitive);
    mark = monitor.mark();
    guard held;
    for (int i = 0; i < 1'000; ++i) {
        held = guard{};
        held = primitive.acquire();
    }
    held = guard{};
    EXPECT_EQ(releases(name), 1'000);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(Guard, LivesInContainers) {
    std::vector<guard> row;  // moves its guards when it grows
    for (int i = 0; i < 20; ++i)
        row.push_back(make_named("thing" + std::to_string(i)).acquire());
    for (const auto& one : row)
        EXPECT_TRUE(one);
    row.erase(row.begin() + 3);
    EXPECT_EQ(of.holders(raw, "thing3"), 0);
    EXPECT_EQ(of.holders(raw, "thing4"), 1);
    std::map<int, guard> by_number;
    by_number[1] = std::move(row.front());
    row.clear();
    EXPECT_EQ(of.holders(raw, "thing0"), 1);
    by_number.clear();
    EXPECT_EQ(of.holders(raw, "thing0"), 0);
    EXPECT_EQ(events.size(), 0u) << events.text();
}

TEST_P(Guard, IsReleasedByAnotherThread) {
    auto held = make().acquire();
    auto result = release_result::unknown;
    std::thread{[&, mine = std::move(held)]() mutable { result = mine.release(); }}.join();
    EXPECT_EQ(result, release_result::released);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(Guard, OfAnotherAcquisitionCannotReleaseThisOne) {
    const auto held = make().acquire();
    { auto second = make().try_acquire(); }
    EXPECT_EQ(guard{}.release(), release_result::expired);
    EXPECT_EQ(holders(), 1);
    EXPECT_TRUE(held);
}

TEST_P(Guard, ReleasesWhenAnExceptionLeavesItsScope) {
    try {
        const auto held = make().acquire();
        throw std::runtime_error{"the caller's own"};
    } catch (const std::runtime_error& failure) {
        EXPECT_STREQ(failure.what(), "the caller's own");
    }
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(Guard, LetsTheCallersExceptionThroughWhateverBecameOfTheLock) {
    for (const bool taken : {false, true}) {
        try {
            const auto held = make().acquire();
            if (taken) occupy();
            else raw.flush();
            throw std::runtime_error{"the caller's own"};
        } catch (const std::runtime_error& failure) {
            EXPECT_STREQ(failure.what(), "the caller's own");
        }
        EXPECT_EQ(events.size(), taken ? 2u : 1u) << events.text();
    }
    EXPECT_TRUE(is_foreign());
}

TEST_P(Guard, ThatAbandonsLeavesTheKeyAndIsSilent) {
    const milliseconds ttl = 10s;
    {
        auto held = make({.ttl = ttl}).acquire();
        const auto token = owner();
        mark = monitor.mark();
        held.abandon();
        EXPECT_FALSE(held);
        EXPECT_FALSE(held.extend());
        EXPECT_EQ(held.release(), release_result::expired);
    }
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_EQ(holders(), 1);
    EXPECT_TRUE(!of.has_ttl || milliseconds_left(ttl) > 5'000);
    EXPECT_FALSE(rival().try_acquire());
    EXPECT_EQ(events.size(), 0u) << events.text();
}

OVER_EVERY_MODEL(Guard);

class GuardInTime : public contract {};

TEST_P(GuardInTime, TurnsFalseByItself) {
    auto held = make({.ttl = 400ms}).acquire();
    EXPECT_TRUE(held);
    EXPECT_TRUE(eventually(2s, [&] { return !held; }));
    EXPECT_GE(clock::now(), held.safe_until());
    EXPECT_LT(held.safe_until() - clock::now(), 400ms);
}

TEST_P(GuardInTime, DestroyedAfterItsLeaseSendsNothingAndSaysSo) {
    monitor_reader monitor{server};
    monitor_reader::mark_type mark = 0;
    {
        auto held = make({.ttl = 60ms}).acquire();
        const auto over = held.safe_until() + 20ms;  // margin and drift
        EXPECT_TRUE(eventually(2s, [&] { return clock::now() > over; }));
        mark = monitor.mark();
    }
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_EQ(events.count(event::kind::release_expired), 1);
    EXPECT_EQ(events.size(), 1u) << events.text();
}

OVER_MODELS_WHERE(has_ttl, GuardInTime);

}  // namespace
}  // namespace tranca::contract
