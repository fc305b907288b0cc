// with(): the body runs only while held, and a loss is never passed over in silence.
#include <stdexcept>
#include <string>

#include "contract/contract.hpp"
#include "support/faults.hpp"

namespace tranca::contract {
namespace {

class With : public contract {};

TEST_P(With, RunsTheBodyWhileHeldAndReleases) {
    bool ran = false;
    with(make(), [&](guard& held) {
        ran = true;
        EXPECT_TRUE(held);
        EXPECT_EQ(holders(), 1);
    });
    EXPECT_TRUE(ran);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(With, ReturnsWhatTheBodyReturns) {
    const auto primitive = make();
    EXPECT_EQ(with(primitive, [] { return 7; }), 7);
    EXPECT_EQ(with(primitive, [](guard&) { return std::string{"text"}; }), "text");
    int value = 0;
    int& same = with(primitive, [&]() -> int& { return value; });
    EXPECT_EQ(&same, &value);
    auto moved = with(primitive, [] { return std::make_unique<int>(3); });
    EXPECT_EQ(*moved, 3);
    static_assert(std::is_void_v<decltype(with(primitive, [] {}))>);
}

TEST_P(With, LetsTheBodysExceptionThrough) {
    EXPECT_THROW(with(make(), [] { throw std::runtime_error{"mine"}; }), std::runtime_error);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(With, LetsTheBodysExceptionThroughAlsoWhenTheLockIsGone) {
    EXPECT_THROW(with(make(),
                      [&] {
                          raw.flush();
                          throw std::runtime_error{"mine"};
                      }),
                 std::runtime_error);
    EXPECT_EQ(events.count(event::kind::release_expired), 1) << events.text();
}

TEST_P(With, ThrowsWhenALossWasFoundOut) {
    EXPECT_THROW(with(make(),
                      [&](guard& held) {
                          raw.flush();
                          EXPECT_FALSE(held.extend());
                      }),
                 lease_lost);
    EXPECT_THROW(static_cast<void>(with(make(),
                                        [&](guard& held) {
                                            raw.flush();
                                            EXPECT_FALSE(held.extend());
                                            return 1;
                                        })),
                 lease_lost);
}

TEST_P(With, TakesABodyThatReleasedByItselfToKnowWhatItDoes) {
    bool went_on = false;
    with(make(), [&](guard& held) {
        EXPECT_EQ(held.release(), release_result::released);
        went_on = true;
    });
    EXPECT_TRUE(went_on);
    EXPECT_EQ(with(make(), [](guard& held) { return held.release(); }), release_result::released);
}

TEST_P(With, LetsABodyKeepTheGuard) {
    guard kept = with(make(), [](guard& held) { return std::move(held); });
    EXPECT_TRUE(kept);
    EXPECT_EQ(holders(), 1);
    with(make({.name = "other"}), [](guard& held) { held.abandon(); });
}

TEST_P(With, NeverRunsTheBodyWithoutTheLock) {
    bool ran = false;
    const client hasty = another_client("?command_timeout=100ms&connect_timeout=100ms");
    const auto primitive = make_on(hasty);
    const auto gone = testing::unreachable(server);
    EXPECT_THROW(with(primitive, [&] { ran = true; }), error);
    EXPECT_FALSE(ran);
}

OVER_EVERY_MODEL(With);

class WithTtl : public contract {};

TEST_P(WithTtl, ThrowsWhenTheLeaseRanOutMeanwhile) {
    bool ran = false;
    EXPECT_THROW(with(make({.ttl = 60ms}),
                      [&](guard& held) {
                          ran = true;
                          EXPECT_TRUE(eventually(2s, [&] { return !held; }));
                      }),
                 lease_lost);
    EXPECT_TRUE(ran);
}

TEST_P(WithTtl, ForgivesABodyThatReleasedInTimeAndWentOnForLonger) {
    with(make({.ttl = 500ms}), [&](guard& held) {
        const auto until = held.safe_until();
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_TRUE(eventually(2s, [&] { return clock::now() > until; }));
    });
}

OVER_MODELS_WHERE(has_ttl, WithTtl);

}  // namespace
}  // namespace tranca::contract
