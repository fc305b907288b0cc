// The limit, the numbers of the slots, and the fences.
#include <map>
#include <set>
#include <thread>

#include "semaphore/semaphore_fixture.hpp"

namespace tranca::semaphore_test {
namespace {

using ::testing::ElementsAre;

class Permits : public semaphore_fixture {};

TEST_F(Permits, AreCountedWithoutTheExpired) {
    const auto calls = limited_to(3);
    EXPECT_EQ(calls.available(), 3);
    EXPECT_TRUE(raw.keys().empty());
    auto first = calls.acquire();
    auto second = calls.acquire();
    EXPECT_EQ(calls.available(), 1);
    EXPECT_EQ(calls.holders().size(), 2u);
    let_lapse();
    EXPECT_EQ(calls.available(), 3);
    EXPECT_TRUE(calls.holders().empty());
    first.abandon();
    second.abandon();
}

TEST_F(Permits, SayWhoHasThemForPeople) {
    const auto one = limited_to(5).acquire();
    const semaphore others{redis, "thing", 5, {.lease = {.ttl = 60s}, .label = "billing|2"}};
    const auto two = others.weighted(2).acquire();
    const auto found = others.holders();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].label, "me");
    EXPECT_EQ(found[0].slots, slots_of(one));
    EXPECT_EQ(found[0].fence, one.fence());
    EXPECT_EQ(found[1].label, "billing|2");
    EXPECT_EQ(found[1].slots, slots_of(two));
    EXPECT_GT(found[1].remaining, 50s);
    EXPECT_LE(found[1].remaining, 60s);
}

TEST_F(Permits, ManyExpiredOnesAreRemovedAHundredAtATime) {
    const auto calls = limited_to(250);
    std::vector<guard> held;
    for (int i = 0; i < 250; ++i)
        held.push_back(calls.acquire());
    EXPECT_FALSE(calls.try_acquire());
    let_lapse();
    const auto next = calls.try_acquire();
    EXPECT_TRUE(next);
    EXPECT_EQ(members(), 151);
    EXPECT_EQ(calls.available(), 249);
    EXPECT_EQ(members(), 1);
    for (auto& one : held)
        one.abandon();
}

TEST_F(Permits, AreRefusedForBadInputBeforeAnythingIsSent) {
    raw.reset_stats();
    const auto refused = [](const std::function<void()>& body) { return reason_of(body) == errc::invalid_argument; };
    for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{-1}, (std::int64_t{1} << 31) + 1})
        EXPECT_TRUE(refused([&] { static_cast<void>(limited_to(limit)); })) << limit;
    const auto calls = limited_to(3);
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{4}})
        EXPECT_TRUE(refused([&] { static_cast<void>(calls.weighted(count)); })) << count;
    EXPECT_TRUE(refused([&] { static_cast<void>(limited_to(5'000).weighted(1'001)); }));
    EXPECT_TRUE(refused([&] { calls.set_limit(0); }));
    EXPECT_TRUE(refused([&] { static_cast<void>(semaphore{redis, "", 1}); }));
    EXPECT_TRUE(refused([&] { static_cast<void>(semaphore{redis, "a{", 1}); }));
    EXPECT_TRUE(refused([&] { static_cast<void>(semaphore{redis, "a", 1, {.label = std::string(201, 'x')}}); }));
    EXPECT_EQ(raw.calls("evalsha") + raw.calls("eval"), 0);
}

class Slots : public semaphore_fixture {};

TEST_F(Slots, AreUniqueBelowTheLimitAndGivenAgain) {
    const auto calls = limited_to(4);
    std::map<std::int64_t, guard> held;
    for (int i = 0; i < 4; ++i) {
        auto one = calls.acquire();
        const auto slot = *one.slot();
        EXPECT_TRUE(slot >= 0 && slot < 4) << slot;
        EXPECT_TRUE(held.emplace(slot, std::move(one)).second) << slot;
    }
    held.erase(2);
    EXPECT_EQ(calls.acquire().slot(), 2);
    held.erase(0);
    const auto two = calls.acquire();
    EXPECT_EQ(two.slot(), 0);
}

TEST_F(Slots, OfTheDeadAreGivenAgain) {
    auto dead = limited_to(1).acquire();
    let_lapse();
    EXPECT_EQ(limited_to(1).acquire().slot(), 0);
    dead.abandon();
}

TEST_F(Slots, AreNoneForALockOrAnEmptyGuard) {
    EXPECT_TRUE(mutex(redis, "thing").acquire().slots().empty());
    EXPECT_EQ(mutex(redis, "thing").acquire().slot(), std::nullopt);
    EXPECT_EQ(guard{}.slot(), std::nullopt);
}

class Fences : public semaphore_fixture {};

TEST_F(Fences, OfEverySlotGrowStrictly) {
    const auto calls = limited_to(3);
    std::map<std::int64_t, std::uint64_t> last;
    std::vector<guard> held;
    for (int i = 0; i < 200; ++i) {
        if (held.size() == 3) held.erase(held.begin() + i % 3);
        held.push_back(calls.acquire());
        auto& before = last[*held.back().slot()];
        EXPECT_GT(*held.back().fence(), before);
        before = *held.back().fence();
    }
    EXPECT_EQ(last.size(), 3u);
}

TEST_F(Fences, AreExactAheadOfTheClockAndRefusedAtTheEnd) {
    limited_to(2).acquire().release();
    const auto last = std::uint64_t{1} << 52;
    set_fence(last + 1);
    EXPECT_EQ(limited_to(2).acquire().fence(), last + 2);
    EXPECT_EQ(limited_to(2).acquire().fence(), last + 3);
    set_fence(9'007'199'254'740'990u);
    EXPECT_EQ(limited_to(2).acquire().fence(), 9'007'199'254'740'991u);
    EXPECT_EQ(reason_of([&] { static_cast<void>(limited_to(2).try_acquire()); }), errc::server);
    EXPECT_EQ(members(), 0);
    EXPECT_EQ(limited_to(2).available(), 2);
}

class AnotherLimit : public semaphore_fixture {};

TEST_F(AnotherLimit, IsRefusedAtOnceAndWhenWaiting) {
    const auto held = limited_to(2).acquire();
    EXPECT_EQ(reason_of([&] { static_cast<void>(limited_to(3).try_acquire()); }), errc::limit_differs);
    EXPECT_EQ(reason_of([&] { static_cast<void>(limited_to(1).try_acquire_for(1s)); }), errc::limit_differs);
    EXPECT_EQ(reason_of([&] { static_cast<void>(limited_to(1).acquire()); }), errc::limit_differs);
    EXPECT_EQ(members(), 1);
    EXPECT_TRUE(limited_to(2).try_acquire());
}

TEST_F(AnotherLimit, InForceMayBeDeclaredAsWellAsTheOldOne) {
    limited_to(2).set_limit(4);
    const auto old = limited_to(2).acquire();
    const auto one = limited_to(4).acquire();
    EXPECT_EQ(limited_to(2).available(), 2);
    EXPECT_EQ(reason_of([&] { static_cast<void>(limited_to(3).try_acquire()); }), errc::limit_differs);
}

TEST_F(AnotherLimit, ThatIsHigherLetsMoreInAtOnceAndWakesThem) {
    const auto calls = limited_to(1);
    const auto held = calls.acquire();
    std::jthread waiter{[&] { EXPECT_EQ(calls.try_acquire_for(patience).value().slot(), 1); }};
    ASSERT_TRUE(asleep(1));
    const stopwatch since_then;
    calls.set_limit(2);
    waiter.join();
    EXPECT_LT(since_then.elapsed(), 700ms);
}

TEST_F(AnotherLimit, ThatIsLowerThrowsNobodyOutAndLetsNobodyIn) {
    const auto calls = limited_to(4);
    std::vector<guard> held;
    for (int i = 0; i < 4; ++i)
        held.push_back(calls.acquire());
    calls.set_limit(2);
    EXPECT_EQ(calls.available(), 0);
    for (auto& one : held)
        EXPECT_TRUE(one.extend());
    held.erase(held.begin());  // slots 1, 2, 3 are left
    held.erase(held.begin());  // 2, 3
    EXPECT_FALSE(calls.try_acquire());
    held.erase(held.begin());  // 3
    auto next = calls.try_acquire();
    ASSERT_TRUE(next);
    EXPECT_LT(*next->slot(), 2);
    EXPECT_FALSE(calls.try_acquire());
}

// The slots of those who were there before the limit fell are not given to others when it rises again.
TEST_F(AnotherLimit, DownAndUpAgainGivesNoSlotTwice) {
    const auto calls = limited_to(5);
    std::vector<guard> held;
    for (int i = 0; i < 5; ++i)
        held.push_back(calls.acquire());
    calls.set_limit(2);
    held.erase(held.begin() + 1);
    held.erase(held.begin() + 2);  // 0, 2 and 4 are left
    calls.set_limit(6);
    EXPECT_EQ(calls.available(), 3);
    std::set<std::int64_t> slots;
    for (int i = 0; i < 3; ++i)
        held.push_back(calls.acquire());
    for (const auto& one : held)
        slots.insert(*one.slot());
    EXPECT_THAT(slots, ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_FALSE(calls.try_acquire());
}

}  // namespace
}  // namespace tranca::semaphore_test
