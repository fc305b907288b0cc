// Extending sets the time left; it never adds, never creates, and a refusal is for good.
#include <atomic>
#include <thread>

#include "contract/contract.hpp"
#include "support/faults.hpp"

namespace tranca::contract {
namespace {

class Extending : public contract {};

TEST_P(Extending, AnswersTrueWhileHeld) {
    auto held = make().acquire();
    const auto token = owner();
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(held.extend());
    EXPECT_TRUE(held);
    EXPECT_EQ(owner(), token);
    EXPECT_EQ(holders(), 1);
}

TEST_P(Extending, KeepsOthersOut) {
    auto held = make({.ttl = 10s}).acquire();
    for (const auto ttl : {10s, 5s, 1s}) {
        EXPECT_TRUE(held.extend(ttl));
        EXPECT_FALSE(rival({.ttl = 10s}).try_acquire()) << ttl.count();
        EXPECT_EQ(holders(), 1);
    }
}

TEST_P(Extending, OfWhatAnotherHoldsIsLostAndLeavesItAlone) {
    auto held = make().acquire();
    occupy();
    const auto left = of.has_ttl ? milliseconds_left(10s) : 0;
    EXPECT_FALSE(held.extend());
    EXPECT_FALSE(held.extend(10s));
    EXPECT_FALSE(held);
    EXPECT_TRUE(is_foreign());
    EXPECT_TRUE(!of.has_ttl || milliseconds_left(10s) <= left);
}

TEST_P(Extending, NeverBringsBackWhatIsGone) {
    auto held = make().acquire();
    raw.flush();
    { const auto between = make().acquire(); }
    EXPECT_FALSE(held.extend());
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_FALSE(held.extend());
    EXPECT_EQ(events.count(event::kind::lease_lost), 1) << events.text();
}

TEST_P(Extending, ThatIsRefusedRequestsTheLossOnce) {
    auto held = make().acquire();
    std::atomic<int> calls{0};
    const std::stop_callback on_loss{held.lost(), [&] { ++calls; }};
    EXPECT_EQ(calls, 0);
    raw.flush();
    EXPECT_FALSE(held.extend());
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_FALSE(held.extend());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(events.count(event::kind::lease_lost), 1) << events.text();
}

TEST_P(Extending, AfterAReleaseAnswersFalseAndTellsOfNoLoss) {
    auto held = make().acquire();
    const auto lost = held.lost();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(held.extend());
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_EQ(events.size(), 0u) << events.text();
}

TEST_P(Extending, ThatGetsNoAnswerThrowsAndChangesNothing) {
    const client hasty = another_client("?command_timeout=100ms&connect_timeout=100ms");
    auto held = make_on(hasty, {.ttl = 30s}).acquire();
    const auto until = held.safe_until();
    {
        const auto frozen = testing::frozen(server);
        EXPECT_TRUE(fails_with(errc::timeout, [&] { held.extend(); }));
        EXPECT_TRUE(held);
        EXPECT_EQ(held.safe_until(), until);
        EXPECT_FALSE(held.lost().stop_requested());
    }
    // So short a time may not do at once on a busy machine.
    EXPECT_TRUE(eventually(5s, [&] {
        bool extended = false;
        const auto late = thrown_by([&] { extended = held.extend(); });
        EXPECT_TRUE(late ? late->reason() == errc::timeout : extended);
        return extended;
    }));
    EXPECT_TRUE(eventually(5s, [&] { return held.release() == release_result::released; }));
}

TEST_P(Extending, OfWhatHasAnotherTypeThrowsItsNameAndIsLost) {
    auto held = make().acquire();
    testing::make_wrong_type(server, of.key_of(name));
    const auto failure = thrown_by([&] { held.extend(); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::wrong_type);
    EXPECT_THAT(failure->what(), ::testing::HasSubstr("\"" + of.key_of(name) + "\""));
    EXPECT_FALSE(held);
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_EQ(raw.must({"LLEN", of.key_of(name)}), 1);
}

OVER_EVERY_MODEL(Extending);

class ExtendingTtl : public contract {};

TEST_P(ExtendingTtl, SetsAndNeverAdds) {
    auto held = make({.ttl = 10s}).acquire();
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(held.extend(10s));
        EXPECT_LE(milliseconds_left(10s), 10'000);
        EXPECT_LE(held.safe_until(), clock::now() + 9s);
    }
}

TEST_P(ExtendingTtl, CanShorten) {
    auto held = make({.ttl = 10s}).acquire();
    EXPECT_TRUE(held.extend(2s));
    EXPECT_LE(milliseconds_left(10s), 2'000);
    EXPECT_LE(held.safe_until(), clock::now() + 2s);
    EXPECT_TRUE(held);
}

TEST_P(ExtendingTtl, MovesTheLease) {
    auto held = make({.ttl = 10s}).acquire();
    ASSERT_TRUE(held.extend(1s));
    const auto before = clock::now();
    ASSERT_TRUE(held.extend());
    EXPECT_GE(held.safe_until(), before + 8s);
    EXPECT_GT(milliseconds_left(10s), 8'000);
}

// A slot whose score lies ahead of the clock would rank behind whoever comes next: that one would get in as well.
TEST_P(ExtendingTtl, BeyondTheUsualTtlLetsNobodyElseIn) {
    auto held = make({.ttl = 10s}).acquire();
    const auto refusal = thrown_by([&] { EXPECT_TRUE(held.extend(60s)); });
    EXPECT_TRUE(!refusal || refusal->reason() == errc::invalid_argument);
    EXPECT_TRUE(held);
    EXPECT_FALSE(rival({.ttl = 10s}).try_acquire());
    EXPECT_EQ(holders(), 1);
}

TEST_P(ExtendingTtl, CountsTheLeaseFromTheSendingThatWasAnswered) {
    auto held = make({.ttl = 2s}).acquire();
    auto state = testing::no_replicas(server);
    auto well_again = clock::time_point::max();
    std::jthread other{[&] {
        std::this_thread::sleep_for(300ms);  // how long it lasts
        well_again = clock::now();
        state.end();
    }};
    EXPECT_TRUE(held.extend());
    other.join();
    EXPECT_GE(held.safe_until(), well_again + 1'700ms);  // of 1798
    EXPECT_LE(held.safe_until(), clock::now() + 1'800ms);
}

TEST_P(ExtendingTtl, IsRefusedWhenTheLeaseIsOver) {
    auto held = make({.ttl = 60ms, .margin = 40ms}).acquire();
    EXPECT_TRUE(eventually(2s, [&] { return !held; }));
    EXPECT_FALSE(held.extend(10s));
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_EQ(events.count(event::kind::lease_lost), 1) << events.text();
}

OVER_MODELS_WHERE(has_ttl, ExtendingTtl);

}  // namespace
}  // namespace tranca::contract
