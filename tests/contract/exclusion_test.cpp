// Never more holders than allowed, and losers who change nothing.
#include <set>

#include "contract/contract.hpp"

namespace tranca::contract {
namespace {

class Exclusion : public contract {};

TEST_P(Exclusion, KeepsASecondClientOut) {
    const auto held = make().try_acquire();
    ASSERT_TRUE(held);
    EXPECT_TRUE(*held);
    const client other = another_client();
    EXPECT_FALSE(rival_on(other).try_acquire());
    EXPECT_FALSE(rival().try_acquire());
    EXPECT_EQ(holders(), 1);
}

TEST_P(Exclusion, LetsTheNextInAfterARelease) {
    auto held = make().try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_TRUE(make().try_acquire());
}

TEST_P(Exclusion, LetsTheNextInAfterADestruction) {
    { const auto held = make().acquire(); }
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_TRUE(make().try_acquire());
}

TEST_P(Exclusion, OfOtherNamesIsIndependent) {
    const auto held = make({.name = "thing"}).try_acquire();
    const auto other = make({.name = "thing2"}).try_acquire();
    ASSERT_TRUE(held && other);
    EXPECT_TRUE(*held && *other);
}

TEST_P(Exclusion, CountsForAForeignHolder) {
    occupy();
    EXPECT_FALSE(make().try_acquire());
    EXPECT_FALSE(make().try_acquire_for(20ms));
    EXPECT_TRUE(is_foreign());
}

TEST_P(Exclusion, LeavesTheHolderAsItWas) {
    const milliseconds ttl = 10s;
    const auto held = make({.ttl = ttl}).try_acquire();
    ASSERT_TRUE(held);
    const auto token = owner();
    std::int64_t left = of.has_ttl ? milliseconds_left(ttl) : 0;
    for (int i = 0; i < 50; ++i) {
        EXPECT_FALSE(rival({.ttl = 60s}).try_acquire());
        EXPECT_EQ(owner(), token);
        EXPECT_EQ(holders(), 1);
        if (!of.has_ttl) continue;
        const auto now_left = milliseconds_left(ttl);
        EXPECT_LE(now_left, left);  // it only falls
        left = now_left;
    }
    EXPECT_TRUE(*held);
}

TEST_P(Exclusion, GivesEveryAcquisitionATokenOfItsOwn) {
    std::set<std::string> tokens;
    const auto primitive = make();
    for (int i = 0; i < 500; ++i) {
        const auto held = primitive.try_acquire();
        ASSERT_TRUE(held);
        const auto token = owner();
        EXPECT_EQ(token.size(), 32u);
        EXPECT_TRUE(tokens.insert(token).second) << token;
    }
}

OVER_EVERY_MODEL(Exclusion);

class Limit : public contract {};

TEST_P(Limit, AdmitsThatManyAndNotOneMore) {
    for (const std::int64_t limit : {1, 2, 3, 7}) {
        raw.flush();
        const auto primitive = make({.limit = limit});
        std::vector<guard> held;
        for (std::int64_t i = 0; i < limit; ++i)
            held.push_back(primitive.acquire());
        EXPECT_FALSE(primitive.try_acquire()) << limit;
        EXPECT_EQ(holders(), limit);
        held.pop_back();
        EXPECT_TRUE(primitive.try_acquire()) << limit;
        held.clear();
        EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    }
}

TEST_P(Limit, MayBeAsBigAsItsType) {
    for (const std::int64_t limit :
         {std::int64_t{1} << 31, std::int64_t{1} << 53, std::numeric_limits<std::int64_t>::max()}) {
        raw.flush();
        if (limit <= of.largest_limit) EXPECT_TRUE(make({.limit = limit}).try_acquire()) << limit;
        else EXPECT_TRUE(fails_with(errc::invalid_argument, [&] { static_cast<void>(make({.limit = limit})); }));
    }
}

TEST_P(Limit, OfAPlaceThatLapsedIsFreeAgainForOneOnly) {
    auto late = make({.limit = 1}).try_acquire();
    ASSERT_TRUE(late);
    let_lapse();
    const auto next = make({.limit = 1}).try_acquire();
    ASSERT_TRUE(next);
    EXPECT_EQ(late->release(), release_result::expired);  // gives back no place that is not its own
    EXPECT_FALSE(make({.limit = 1}).try_acquire());
    EXPECT_EQ(holders(), 1);
}

OVER_MODELS_WHERE(has_limit, Limit);

class Expiry : public contract {};

TEST_P(Expiry, LetsTheNextInAndTheLateReleaseAlone) {
    auto late = make().try_acquire();
    ASSERT_TRUE(late);
    let_lapse();
    // Elsewhere: a process whose guard still says true may keep its own threads out.
    const auto other = another_client();
    const auto next = make_on(other).try_acquire();
    ASSERT_TRUE(next);
    const auto token = owner();
    EXPECT_NE(late->release(), release_result::released);
    EXPECT_EQ(owner(), token);
    EXPECT_FALSE(rival().try_acquire());
}

TEST_P(Expiry, ComesAfterTheTtlAndNotBefore) {
    for (const auto ttl : {1ms, 5ms, 300ms, 999ms, 1500ms}) {
        raw.flush();
        std::optional<guard> held;
        // A very short lease may be over when its answer comes; that is said as a failure, never as a guard.
        if (const auto late = thrown_by([&] { held = make({.ttl = ttl}).try_acquire(); })) {
            EXPECT_EQ(late->reason(), errc::timeout);
            EXPECT_LE(ttl, 5ms);
            continue;
        }
        ASSERT_TRUE(held) << ttl.count();
        EXPECT_LE(milliseconds_left(ttl), ttl.count());
        std::optional<guard> other;
        const auto too_late = thrown_by([&] { other = rival({.ttl = ttl}).try_acquire(); });
        EXPECT_TRUE(!other || !*held) << ttl.count();
        EXPECT_TRUE(!too_late || ttl <= 5ms) << too_late->what();
        EXPECT_TRUE(ttl < 300ms || milliseconds_left(ttl) > 0) << ttl.count();
    }
}

// A server counts whole milliseconds, and may take a key out when the last of them begins.
TEST_P(Expiry, IsOverForItsHolderBeforeAnotherGetsIn) {
    const auto other = another_client();
    const auto mine = make({.ttl = 3ms, .margin = 0ms});
    const auto rivals = rival_on(other, {.ttl = 3ms, .margin = 0ms});
    const testing::deadline end{400ms};
    while (!end.expired()) {
        std::optional<guard> held;
        std::optional<guard> next;
        // An answer may come too late.
        static_cast<void>(thrown_by([&] { held = mine.try_acquire(); }));
        while (!next && !end.expired())
            static_cast<void>(thrown_by([&] { next = rivals.try_acquire(); }));
        ASSERT_FALSE(held && next && *held && *next);
    }
}

TEST_P(Expiry, FreesWhatADeadHolderHeld) {
    const milliseconds ttl = 150ms;
    const stopwatch since_start;
    make({.ttl = ttl}).acquire().abandon();
    EXPECT_TRUE(rival({.ttl = ttl}).try_acquire_for(5s));
    EXPECT_GE(since_start.elapsed(), ttl);
    EXPECT_LT(since_start.elapsed(), ttl + 1s);
}

TEST_P(Expiry, IsToldExactlyForLongTtls) {
    for (const milliseconds ttl : {milliseconds{24h * 24}, milliseconds{24h * 3650}, longest_duration}) {
        raw.flush();
        const auto held = make({.ttl = ttl}).try_acquire();
        ASSERT_TRUE(held);
        EXPECT_TRUE(*held);
        EXPECT_THAT(milliseconds_left(ttl),
                    ::testing::AllOf(::testing::Gt(ttl.count() - 1'000), ::testing::Le(ttl.count())));
        EXPECT_FALSE(rival({.ttl = ttl}).try_acquire());
    }
}

OVER_MODELS_WHERE(has_ttl, Expiry);

}  // namespace
}  // namespace tranca::contract
