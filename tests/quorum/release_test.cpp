// A release reaches every node, sooner or later, and says what came of it.
#include "quorum/quorum_fixture.hpp"

namespace tranca::quorum_test {
namespace {

class Release : public quorum_fixture {};

TEST_F(Release, IsTriedOnAllNodes) {
    const voters mine{urls(5)};
    auto held = held_on_all(mine.lock(), 5);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(eventually(patience, [&] { return holding(5) == 0; }));
    EXPECT_EQ(held.release(), release_result::expired);
}

TEST_F(Release, ReachesANodeThatWasSilent) {
    const voters mine{urls(3)};
    static_cast<void>(held_on_all(mine.lock(), 3).release());
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
    node(0).freeze();
    auto held = mine.lock().acquire();
    EXPECT_EQ(held.release(), release_result::released);
    node(0).resume();
    EXPECT_TRUE(eventually(1s, [&] { return !exists(0); }));
    EXPECT_TRUE(throughout(100ms, [&] { return !exists(0); }));
}

// The grant comes late, over a slow line; the release stands behind it.
TEST_F(Release, FollowsAGrantThatCameLate) {
    tcp_gate gate{node(0).tcp()};
    const voters mine{{gate.url(), node(1).url(), node(2).url()}};
    static_cast<void>(held_on_all(mine.lock(), 3).release());
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
    const auto before = stored(0);
    gate.delay_requests(1000ms);  // longer than the node is given
    { const auto held = mine.lock().acquire(); }
    EXPECT_EQ(stored(0), before);  // neither has arrived
    EXPECT_TRUE(eventually(patience, [&] { return stored(0) > before; }));
    EXPECT_TRUE(eventually(1s, [&] { return !exists(0); }));
    EXPECT_TRUE(throughout(300ms, [&] { return !exists(0); }));
}

// The connection breaks before the release is through: it is said again on another one.
TEST_F(Release, IsSaidAgainWhereTheConnectionBroke) {
    tcp_gate gate{node(0).tcp()};
    const voters mine{{gate.url(), node(1).url(), node(2).url()}};
    auto held = held_on_all(mine.lock(), 3);
    gate.hold("EVALSHA|EVAL");
    EXPECT_EQ(held.release(), release_result::released);
    ASSERT_TRUE(gate.wait_until_held(patience));
    EXPECT_TRUE(exists(0));
    gate.cut_held();
    EXPECT_TRUE(eventually(2s, [&] { return !exists(0); }));
}

TEST_F(Release, ReachesANodeThatWasOutOfReach) {
    tcp_gate gate{node(0).tcp()};
    const voters mine{{gate.url(), node(1).url(), node(2).url()}};
    auto held = held_on_all(mine.lock(), 3);
    gate.refuse_connections();
    gate.cut();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(exists(0));
    gate.accept_connections();
    EXPECT_TRUE(eventually(2s, [&] { return !exists(0); }));
}

// For as long as its key may be there, which is longer after a longer extension.
TEST_F(Release, ReachesANodeThatWasOutOfReachAfterAnExtension) {
    tcp_gate gate{node(0).tcp()};
    const voters mine{{gate.url(), node(1).url(), node(2).url()}};
    auto held = held_on_all(mine.lock(by_hand(1s)), 3);
    ASSERT_TRUE(held.extend(60s));
    ASSERT_TRUE(eventually(patience, [&] { return node(0).raw().pttl("lock:thing") > 10'000; }));
    gate.refuse_connections();
    gate.cut();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(throughout(1500ms, [&] { return exists(0); }));
    gate.accept_connections();
    EXPECT_TRUE(eventually(patience, [&] { return !exists(0); }));
}

TEST_F(Release, IsUnknownWhereAMajorityIsSilentAndBounded) {
    const voters mine{urls(3)};
    auto held = mine.lock().acquire();
    node(0).freeze();
    node(1).freeze();
    const stopwatch since_start;
    EXPECT_EQ(held.release(), release_result::unknown);
    EXPECT_LT(since_start.elapsed(), 1s);
    node(0).resume();
    node(1).resume();
    EXPECT_TRUE(eventually(2s, [&] { return holding(3) == 0; }));
}

TEST_F(Release, TellsExpiredFromTaken) {
    const voters mine{urls(3)};
    auto first = held_on_all(mine.lock(), 3);
    node(0).must({"FLUSHALL"});
    node(1).must({"FLUSHALL"});
    EXPECT_EQ(first.release(), release_result::expired);
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
    auto second = held_on_all(mine.lock(), 3);
    occupy(0);
    occupy(1);
    EXPECT_EQ(second.release(), release_result::taken);
    EXPECT_TRUE(exists(0));
}

TEST_F(Release, OfADestroyedGuardIsBounded) {
    const voters mine{urls(3)};
    std::optional<guard> held = mine.lock().acquire();
    for (std::size_t i = 0; i < 3; ++i)
        node(i).freeze();
    const stopwatch since_start;
    held.reset();
    EXPECT_LT(since_start.elapsed(), 1s);
    for (std::size_t i = 0; i < 3; ++i)
        node(i).resume();
    EXPECT_TRUE(eventually(2s, [&] { return holding(3) == 0; }));
}

TEST_F(Release, OfAnAbandonedGuardIsNone) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(), 3);
    held.abandon();
    { const guard gone = std::move(held); }
    EXPECT_TRUE(throughout(100ms, [&] { return holding(3) == 3; }));
}

}  // namespace
}  // namespace tranca::quorum_test
