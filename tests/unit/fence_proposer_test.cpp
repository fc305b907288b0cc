#include <gtest/gtest.h>

#include <tranca/fence_proposer.hpp>

namespace tranca {
namespace {

TEST(FenceProposer, BeginsWithTheClock) { EXPECT_EQ(fence_proposer{}.propose(1'000), 1'000u); }

TEST(FenceProposer, ProposesMoreThanItHasLearned) {
    fence_proposer fences;
    fences.learn(5'000, 4'000);
    EXPECT_GT(fences.propose(4'000), 5'000u);
    EXPECT_GT(fences.propose(1'000), 5'000u);  // the clock was set back
    EXPECT_EQ(fences.largest(), 5'000u);
}

// A clock that is behind by a thousand proposes what a right one would.
TEST(FenceProposer, MakesUpForAClockThatIsBehind) {
    fence_proposer fences;
    fences.learn(5'000, 4'000);
    EXPECT_EQ(fences.propose(10'000), 11'000u);
    fences.learn(5'000, 9'000);  // nothing new
    EXPECT_EQ(fences.propose(10'000), 11'000u);
}

TEST(FenceProposer, IsNotHeldBackByASmallerNumber) {
    fence_proposer fences;
    fences.learn(10, 4'000);
    EXPECT_EQ(fences.propose(4'001), 4'001u);
}

}  // namespace
}  // namespace tranca
