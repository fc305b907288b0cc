// Who is granted it: more than half of the nodes, and nobody else.
#include "quorum/quorum_fixture.hpp"

namespace tranca::quorum_test {
namespace {

class Decision : public quorum_fixture {};

TEST_F(Decision, WritesTheMutexOnEachNode) {
    const voters mine{urls(3)};
    const auto held = held_on_all(mine.lock(), 3);
    ASSERT_TRUE(held);
    const auto fence = std::to_string(*held.fence());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(value(i).substr(32), "|" + fence + "|me");
        EXPECT_EQ(value(i).substr(0, 32), value(0).substr(0, 32));
        EXPECT_EQ(std::to_string(stored(i)), fence);
        const auto left = node(i).must({"PTTL", lock_key}).integer;
        EXPECT_GT(left, 9'000);
        EXPECT_LE(left, 10'000);
    }
}

TEST_F(Decision, KeepsAnotherClientOut) {
    const voters mine{urls(3)};
    const voters others{urls(3)};
    auto held = mine.lock().acquire();
    ASSERT_TRUE(held);
    EXPECT_FALSE(others.lock().try_acquire());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(others.lock().try_acquire());
}

TEST_F(Decision, TakesOneRoundTripWhereTheClocksAgree) {
    const voters mine{urls(5)};
    const auto lock = mine.lock();
    for (int i = 0; i < 20; ++i) {
        const auto held = lock.acquire();
        EXPECT_EQ(votes_for(held).round_trips, 1);
        EXPECT_EQ(votes_for(held).nodes, 5u);
        EXPECT_GE(votes_for(held).confirmed_on, 3u);
    }
}

TEST_F(Decision, OfOneNodeIsThatNodes) {
    const voters mine{urls(1)};
    const voters others{urls(1)};
    auto held = mine.lock().acquire();
    EXPECT_EQ(votes_for(held).confirmed_on, 1u);
    EXPECT_EQ(held.level(), grant_level::quorum);
    EXPECT_FALSE(others.lock().try_acquire());
    held.release();
    EXPECT_EQ(holding(1), 0u);
}

class DecisionOfSome : public quorum_fixture, public ::testing::WithParamInterface<std::size_t> {};

// Of each number of nodes: with one too few free it is busy and leaves nothing, with as many as needed it is granted.
TEST_P(DecisionOfSome, NeedsMoreThanHalf) {
    const auto nodes = GetParam();
    const auto most_taken = nodes - tally::majority_of(nodes);
    const voters mine{urls(nodes)};
    for (std::size_t i = 0; i <= most_taken; ++i)
        occupy(i);
    EXPECT_FALSE(mine.lock().try_acquire());
    EXPECT_TRUE(eventually(1s, [&] { return holding(nodes) == most_taken + 1; }));  // the foreign ones
    EXPECT_TRUE(throughout(50ms, [&] { return holding(nodes) == most_taken + 1; }));
    node(0).must({"DEL", lock_key});
    const auto held = mine.lock().try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(votes_for(*held).confirmed_on, tally::majority_of(nodes));
}
INSTANTIATE_TEST_SUITE_P(Nodes, DecisionOfSome, ::testing::Values(1, 2, 3, 4, 5));

TEST_F(Decision, IsNegativeAsSoonAsItCanBe) {
    const voters mine{urls(4)};
    static_cast<void>(held_on_all(mine.lock(), 4).release());  // connected
    occupy(0);
    occupy(1);
    node(3).freeze();
    const stopwatch since_start;
    EXPECT_FALSE(mine.lock(by_hand(10s, 3s)).try_acquire());  // two of four said no: the frozen one is not waited for
    EXPECT_LT(since_start.elapsed(), 1s);
    node(3).resume();
    EXPECT_TRUE(eventually(patience, [&] { return !exists(2) && !exists(3); }));
}

TEST_F(Decision, AnErrorReplyIsAVoteAgainst) {
    const voters mine{urls(3)};
    node(0).must({"RPUSH", lock_key, "a list"});
    auto held = mine.lock().try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(votes_for(*held).granted_on, 2u);
    held->release();
    ASSERT_TRUE(eventually(patience, [&] { return !exists(1) && !exists(2); }));
    node(1).must({"DEL", lock_key});
    node(1).must({"RPUSH", lock_key, "a list"});
    const voters others{urls(3)};
    const auto failure = thrown_by([&] { static_cast<void>(others.lock().try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::wrong_type);
    EXPECT_THAT(failure->what(), ::testing::HasSubstr("lock:thing"));
}

// A grant that comes when nothing is left of its lease is none.
TEST_F(Decision, RefusesAGrantWithNothingLeft) {
    const gates_before gates{3};
    const voters mine{gates.urls()};
    auto options = by_hand(200ms, 190ms);
    options.lease.margin = 100ms;
    ASSERT_TRUE(mine.lock().try_acquire());  // connected
    for (const auto& gate : gates)
        gate->delay_replies(120ms);  // validity is 200 - 4 - 100
    const auto failure = thrown_by([&] { static_cast<void>(mine.lock(options).try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_TRUE(eventually(1s, [&] { return holding(3) == 0; }));
}

TEST_F(Decision, CountsTheLeaseFromBeforeTheFirstByte) {
    const voters mine{urls(3)};
    ASSERT_TRUE(mine.lock().try_acquire());
    const auto before = clock::now();
    const auto held = mine.lock().acquire();
    const auto after = clock::now();
    // 10 s less a margin of a tenth, and a drift of a hundredth and 2 ms; lease_clock's own thousandth and
    // millisecond come on top.
    const auto validity = 10s - 1s - 102ms - 10ms - 1ms;
    EXPECT_GE(held.safe_until(), before + validity);
    EXPECT_LE(held.safe_until(), after + validity);
}

// Case R12: how long the answers take is taken off what is left.
TEST_F(Decision, CountsTheLeaseFromBeforeSlowAnswersToo) {
    const gates_before gates{3};
    const voters mine{gates.urls()};
    const auto lock = mine.lock(by_hand(10s, 3s));
    ASSERT_TRUE(lock.try_acquire());
    for (const auto& gate : gates)
        gate->delay_replies(400ms);
    const auto before = clock::now();
    const auto held = lock.acquire();
    EXPECT_GE(clock::now(), before + 400ms);
    EXPECT_LE(held.safe_until(), before + 10s - 1s - 102ms - 10ms + 300ms);  // sent within 300 ms, answered after 400
}

TEST_F(Decision, WithoutFencingNeedsGrantsAlone) {
    const voters mine{urls(3)};
    auto options = by_hand();
    options.fencing = fencing::off;
    const auto held = held_on_all(mine.lock(options), 3);
    EXPECT_FALSE(held.fence());
    EXPECT_EQ(value(0).substr(32), "||me");
    EXPECT_EQ(stored(0), 0u);
}

}  // namespace
}  // namespace tranca::quorum_test
