// What counts as a flaw.
#include "interleave/board.hpp"

#include <gmock/gmock.h>

namespace tranca::interleave {
namespace {

using mode = claim::mode;
using ::testing::HasSubstr;
using ::testing::Optional;

class Board : public ::testing::Test {
protected:
    board beliefs{3, 2};
};

TEST_F(Board, LetsOneAfterAnotherBeAlone) {
    beliefs.enter(0, {{"it"}, mode::exclusive});
    beliefs.leave(0);
    beliefs.enter(1, {{"it"}, mode::exclusive});
    beliefs.enter(2, {{"another"}, mode::exclusive});
    EXPECT_EQ(beliefs.flaw(), std::nullopt);
}

TEST_F(Board, RefusesTwoOfWhomOneShouldBeAlone) {
    beliefs.enter(0, {{"it"}, mode::shared});
    beliefs.enter(1, {{"it"}, mode::shared});
    EXPECT_EQ(beliefs.flaw(), std::nullopt);
    beliefs.enter(2, {{"another", "it"}, mode::exclusive});
    EXPECT_THAT(beliefs.flaw(), Optional(HasSubstr("two hold it")));
}

TEST_F(Board, CountsPermitsAgainstTheLimit) {
    beliefs.enter(0, {{"it"}, mode::counted, {}, {0}});
    beliefs.enter(1, {{"it"}, mode::counted, {}, {1}});
    EXPECT_EQ(beliefs.flaw(), std::nullopt);
    beliefs.enter(1, {{"it"}, mode::counted, {}, {1, 2}});
    EXPECT_THAT(beliefs.flaw(), Optional(HasSubstr("3 hold it, and the limit is 2")));
}

TEST_F(Board, RefusesASlotThatIsHeld) {
    beliefs.enter(0, {{"it"}, mode::counted, {}, {1}});
    beliefs.enter(1, {{"it"}, mode::counted, {}, {1}});
    EXPECT_THAT(beliefs.flaw(), Optional(HasSubstr("the same slot")));
}

TEST_F(Board, WantsAFenceAboveThoseThatWereThereBefore) {
    beliefs.begin(1);
    beliefs.enter(0, {{"it"}, mode::exclusive, 7});
    beliefs.leave(0);
    beliefs.enter(1, {{"it"}, mode::exclusive, 6});  // began before
    EXPECT_EQ(beliefs.flaw(), std::nullopt);
    beliefs.leave(1);
    beliefs.begin(2);
    beliefs.enter(2, {{"it"}, mode::shared, 7});  // readers may share one
    EXPECT_EQ(beliefs.flaw(), std::nullopt);
    beliefs.leave(2);
    beliefs.enter(2, {{"it"}, mode::exclusive, 7});
    EXPECT_THAT(beliefs.flaw(), Optional(HasSubstr("not above 7")));
}

}  // namespace
}  // namespace tranca::interleave
