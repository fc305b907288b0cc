// The checkers themselves: a clean history passes, and one violation of each kind, planted by hand, is found.
#include <gmock/gmock.h>

#include "faults/checker.hpp"
#include "faults/history_builder.hpp"

namespace tranca::faults_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const findings& found) {
    std::vector<std::string> names;
    for (const auto& each : found)
        names.push_back(each.checker);
    return names;
}

// Two that take turns, write a register, extend, ask their guards; one is killed, one is stopped and comes back too late.
history clean_run() {
    return written({
        acquire("a", 0, 1, {.fence = 10, .until = 360, .lease = 400}),
        access("a", 2, "read", 10, 0),
        acquire("b", 1, 52, {.fence = 20, .until = 410}),
        extend("a", 10, 11, 370),
        said_true("a", 30),
        access("a", 31, "write", 10, 1),
        release("a", 50, 51),
        access("b", 60, "read", 20, 1),
        said_true("b", 61),
        access("b", 62, "write", 20, 2),
        acquire("c", 60, 72, {.fence = 30, .until = 430, .process = 3}),
        release("b", 70, 71),
        nemesis("kill", 80, 3),
        acquire("d", 79, 475, {.fence = 40, .until = 835}),
        release("d", 500, 501),
        acquire("busy", 480, 500, {.wait = 20, .outcome = phase::failed}),
        acquire("stopped", 510, 511, {.fence = 50, .until = 870, .process = 5}),
        nemesis("stop", 515, 5),
        acquire("e", 600, 930, {.fence = 60, .until = 1'290}),
        access("e", 931, "read", 60, 2),
        nemesis("continue", 1'000, 5),
        access("stopped", 1'001, "write", 50, 3, phase::failed),
        release("stopped", 1'002, 1'003, phase::failed),
        release("e", 1'004, 1'005),
    });
}

TEST(Checker, FindsNothingInACleanHistory) { EXPECT_THAT(check(clean_run(), {}), IsEmpty()); }

TEST(Checker, CountsWhatACleanHistoryHolds) {
    const auto sum = totals_of(clean_run(), {});
    EXPECT_EQ(sum.acquires, 7u);
    EXPECT_EQ(sum.grants, 6u);
    EXPECT_EQ(sum.fences, 6u);
    EXPECT_EQ(sum.accesses, 6u);
    EXPECT_EQ(sum.refused, 1u);
    EXPECT_EQ(sum.faults, 2u);
}

TEST(MutualExclusion, IsBrokenByTwoBeliefsAtOnce) {
    const auto found = mutual_exclusion(written({acquire("a", 0, 1, {.fence = 1, .until = 300}), release("a", 100, 101),
                                                 acquire("b", 50, 99, {.fence = 2, .until = 400})}));
    EXPECT_THAT(names_of(found), ElementsAre("C1"));
}

TEST(MutualExclusion, CountsABeliefToTheReleaseTheEndOfValidityOrTheDeath) {
    const auto next = acquire("b", 50, 100, {.fence = 2});
    EXPECT_THAT(mutual_exclusion(written({acquire("a", 0, 1, {.until = 100}), next})), IsEmpty());
    EXPECT_THAT(mutual_exclusion(written({acquire("a", 0, 1), release("a", 100, 200), next})), IsEmpty());
    EXPECT_THAT(mutual_exclusion(written({acquire("a", 0, 1, {.process = 9}), nemesis("kill", 99, 9), next})),
                IsEmpty());
    EXPECT_THAT(names_of(mutual_exclusion(written({acquire("a", 0, 1, {.until = 101}), next}))), ElementsAre("C1"));
}

TEST(MutualExclusion, CountsABeliefOnAfterAnExtensionOrAnAnswerOfTheGuard) {
    const auto next = acquire("b", 50, 100, {.fence = 2});
    const auto first = acquire("a", 0, 1, {.until = 60});
    EXPECT_THAT(names_of(mutual_exclusion(written({first, extend("a", 30, 31, 130), next}))), ElementsAre("C1"));
    EXPECT_THAT(names_of(mutual_exclusion(written({first, said_true("a", 50, 130), next}))), ElementsAre("C1"));
    EXPECT_THAT(mutual_exclusion(written({first, extend("a", 30, 31, 0, phase::failed), next})), IsEmpty());
}

TEST(MutualExclusion, TakesNoAnswerReadAfterItsEndForAHold) {
    EXPECT_THAT(mutual_exclusion(written({acquire("a", 0, 99, {.until = 50}), acquire("b", 60, 70)})), IsEmpty());
}

TEST(MutualExclusion, LetsReadersShareAndNoWriterBesideThem) {
    const auto reader = acquire("r", 0, 1, {.until = 300, .shared = true});
    EXPECT_THAT(mutual_exclusion(written({reader, acquire("s", 5, 6, {.shared = true})})), IsEmpty());
    EXPECT_THAT(names_of(mutual_exclusion(written({reader, acquire("w", 5, 6)}))), ElementsAre("C1"));
    EXPECT_THAT(names_of(mutual_exclusion(written({acquire("w", 0, 1), acquire("s", 5, 6, {.shared = true})}))),
                ElementsAre("C1"));
}

TEST(Limit, IsBrokenByOneTooMany) {
    const auto two = written({acquire("a", 0, 1, {.slots = {0}}), acquire("b", 2, 3, {.slots = {1}})});
    EXPECT_THAT(limit_kept(two, {.limit = 2}), IsEmpty());
    EXPECT_THAT(names_of(limit_kept(two, {.limit = 1})), ElementsAre("C2"));
}

TEST(Limit, CountsWeights) {
    const auto three = written({acquire("a", 0, 1, {.slots = {0, 1}}), acquire("b", 2, 3, {.slots = {2}})});
    EXPECT_THAT(limit_kept(three, {.limit = 3}), IsEmpty());
    EXPECT_THAT(names_of(limit_kept(three, {.limit = 2})), ElementsAre("C2"));
}

TEST(Limit, IsBrokenByASlotGivenTwice) {
    const auto twice = written({acquire("a", 0, 1, {.slots = {0}}), acquire("b", 2, 3, {.slots = {0}})});
    EXPECT_THAT(names_of(limit_kept(twice, {.limit = 5})), ElementsAre("C2"));
}

TEST(Fences, AreBrokenByASmallerOneThatWasAskedForLater) {
    EXPECT_THAT(names_of(fences_grow(written({acquire("a", 0, 1, {.fence = 9}), acquire("b", 2, 3, {.fence = 8})}))),
                ElementsAre("C3"));
}

TEST(Fences, MayBeSmallerWhereTheyWereAskedForAtTheSameTime) {
    EXPECT_THAT(fences_grow(written({acquire("a", 0, 5, {.fence = 9}), acquire("b", 2, 6, {.fence = 8})})), IsEmpty());
}

TEST(Fences, AreBrokenByTheSameOneTwice) {
    EXPECT_THAT(names_of(fences_grow(written({acquire("a", 0, 5, {.fence = 9}), acquire("b", 2, 6, {.fence = 9})}))),
                ElementsAre("C3"));
}

TEST(Fences, OfReadersMayBeOneAndTheSameButNotThatOfAWriter) {
    const auto reader = acquire("r", 0, 1, {.fence = 9, .shared = true});
    EXPECT_THAT(fences_grow(written({reader, acquire("s", 2, 3, {.fence = 9, .shared = true})})), IsEmpty());
    EXPECT_THAT(names_of(fences_grow(written({reader, acquire("w", 2, 3, {.fence = 9})}))), ElementsAre("C3", "C3"));
}

TEST(Fences, AreBrokenByOneFarAheadOfTheClock) {
    const auto ahead = acquire("a", 0, 1, {.fence = 5'000'000, .wall = 3'900'000});
    EXPECT_THAT(names_of(fences_near_clock(written({ahead}), {})), ElementsAre("C4"));
    EXPECT_THAT(fences_near_clock(written({ahead}), {.ahead = 1'100ms}), IsEmpty());
}

TEST(Resource, IsBrokenByAnAccessBehindALargerFence) {
    EXPECT_THAT(names_of(resource_in_order(written({access("b", 1, "read", 9, 0), access("a", 2, "read", 8, 0)}), {})),
                ElementsAre("C5"));
}

TEST(Resource, IsBrokenByALostUpdate) {
    EXPECT_THAT(
        names_of(resource_in_order(written({access("a", 1, "write", 8, 1), access("b", 2, "write", 9, 1)}), {})),
        ElementsAre("C5"));
}

TEST(Resource, IsBrokenByARefusalWithoutALargerFence) {
    EXPECT_THAT(names_of(resource_in_order(
                    written({access("a", 1, "write", 8, 1), access("b", 2, "write", 9, 2, phase::failed)}), {})),
                ElementsAre("C5"));
}

TEST(Resource, IsBrokenByARefusalOfAHolderInTheRight) {
    const auto all = written(
        {acquire("a", 0, 1, {.fence = 8}), access("b", 2, "read", 9, 0), access("a", 3, "write", 8, 1, phase::failed)});
    EXPECT_THAT(names_of(resource_in_order(all, {})), ElementsAre("C5"));
    EXPECT_THAT(resource_in_order(all, {.exclusion_may_break = true}), IsEmpty());
}

TEST(Waits, AreBrokenByALateReturn) {
    const auto late = acquire("a", 0, 700, {.wait = 100, .outcome = phase::failed});
    EXPECT_THAT(names_of(waits_end(written({late}), {.lateness = 500ms, .idle = 10s})), ElementsAre("C6"));
    EXPECT_THAT(waits_end(written({late}), {.lateness = 700ms, .idle = 10s}), IsEmpty());
}

TEST(Waits, AreBrokenByOneThatNeverReturns) {
    const auto asked = history{acquire("a", 0, 1, {.wait = 100})[0]};
    EXPECT_THAT(names_of(waits_end(written({asked, nemesis("cut", 2'000)}), {})), ElementsAre("C6"));
    EXPECT_THAT(waits_end(written({asked, nemesis("kill", 50, 1), nemesis("cut", 2'000)}), {}), IsEmpty());
}

TEST(Waits, AreNotLateForTheTimeTheirProcessWasStopped) {
    const auto late = acquire("a", 0, 700, {.wait = 100, .outcome = phase::failed});
    EXPECT_THAT(waits_end(written({late, nemesis("stop", 50, 1), nemesis("continue", 300, 1)}),
                          {.lateness = 400ms, .idle = 10s}),
                IsEmpty());
}

TEST(Waits, AreBrokenByWhatStaysFreeWhileSomebodyWaits) {
    const auto all = written({acquire("a", 0, 1), release("a", 10, 11), acquire("b", 5, 600, {.fence = 2})});
    EXPECT_THAT(names_of(waits_end(all, {.idle = 500ms})), ElementsAre("C6"));
    EXPECT_THAT(waits_end(all, {.idle = 600ms}), IsEmpty());
}

TEST(Waits, AreNotLateForTheTimeTheMachineStoodStill) {
    auto stall = nemesis("stall", 50);
    stall.front().value = 300 * ms;
    const auto idle = written({acquire("a", 0, 1), release("a", 10, 11), acquire("b", 5, 600, {.fence = 2}), stall});
    EXPECT_THAT(waits_end(idle, {.idle = 290ms}), IsEmpty());
    EXPECT_THAT(names_of(waits_end(idle, {.idle = 250ms})), ElementsAre("C6"));
}

TEST(Waits, AreNotIdleWhileAHolderNobodyHeardOfMayStillBeThere) {
    const auto dead = history{acquire("x", 2, 3, {.process = 9, .lease = 600})[0]};
    EXPECT_THAT(waits_end(written({acquire("a", 0, 1), release("a", 10, 11), dead, nemesis("kill", 12, 9),
                                   acquire("b", 5, 600, {.fence = 2})}),
                          {.idle = 300ms}),
                IsEmpty());
}

TEST(Waits, AreIdleWhereAPermitIsFreeThoughOthersHold) {
    const auto all = written({acquire("a", 0, 1, {.slots = {0}}), acquire("c", 0, 1, {.slots = {1}}),
                              release("a", 10, 11), acquire("b", 5, 700, {.slots = {0}})});
    EXPECT_THAT(names_of(waits_end(all, {.limit = 2})), ElementsAre("C6"));
}

TEST(Answers, AreBrokenByAReleaseOfWhatAnotherHad) {
    const auto all = written(
        {acquire("a", 0, 1, {.fence = 1, .until = 20}), acquire("b", 30, 31, {.fence = 2}), release("a", 40, 41)});
    EXPECT_THAT(names_of(answers_are_honest(all)), ElementsAre("C7"));
}

TEST(Answers, AreBrokenByAGuardThatStillHolds) {
    const auto all = written(
        {acquire("a", 0, 1, {.fence = 1, .until = 20}), acquire("b", 30, 31, {.fence = 2}), said_true("a", 40)});
    EXPECT_THAT(names_of(answers_are_honest(all)), ElementsAre("C7"));
}

TEST(Answers, AreBrokenByAnExtensionOfWhatWasOver) {
    EXPECT_THAT(names_of(answers_are_honest(written({acquire("a", 0, 1, {.until = 20}), extend("a", 30, 31, 90)}))),
                ElementsAre("C7"));
}

TEST(Answers, AreNotBrokenByTheOwnerOfAnotherSlot) {
    const auto all = written({acquire("a", 0, 1, {.fence = 1, .slots = {0}}), said_true("a", 40),
                              acquire("b", 30, 31, {.fence = 2, .slots = {1}}), release("a", 50, 51)});
    EXPECT_THAT(answers_are_honest(all), IsEmpty());
}

TEST(Residue, IsAKeyThatStays) {
    EXPECT_THAT(names_of(nothing_stays({line(op::residue, phase::failed, "", 5)})), ElementsAre("C8"));
    EXPECT_THAT(nothing_stays({line(op::residue, phase::ok, "", 5)}), IsEmpty());
}

const rules searching{.search = true};

TEST(Order, ExplainsAGrantNobodyHeardOf) {
    const auto lost = acquire("lost", 0, 5, {.wait = 0, .outcome = phase::unknown});
    const auto busy = acquire("b", 6, 7, {.wait = 0, .outcome = phase::failed});
    EXPECT_THAT(some_order_explains(written({lost, busy}), searching), IsEmpty());
    EXPECT_THAT(some_order_explains(written({lost, acquire("b", 6, 7, {.fence = 2})}), searching), IsEmpty());
}

TEST(Order, DoesNotExplainBusyWhereNobodyCanHaveHeld) {
    EXPECT_THAT(
        names_of(some_order_explains(written({acquire("b", 6, 7, {.wait = 0, .outcome = phase::failed})}), searching)),
        ElementsAre("C9"));
}

TEST(Order, DoesNotExplainTwoGrantsWithoutARelease) {
    EXPECT_THAT(names_of(some_order_explains(
                    written({acquire("a", 0, 1, {.fence = 1}), acquire("b", 2, 3, {.fence = 2})}), searching)),
                ElementsAre("C9"));
}

TEST(Order, ExplainsOperationsThatOverlap) {
    EXPECT_THAT(some_order_explains(written({acquire("a", 0, 5, {.fence = 1}), release("a", 6, 20),
                                             acquire("b", 7, 8, {.wait = 0, .outcome = phase::failed}),
                                             acquire("c", 9, 10, {.fence = 2})}),
                                    searching),
                IsEmpty());
}

TEST(Order, DoesNotExplainAReleaseThatFoundNothingWhileItHeld) {
    EXPECT_THAT(names_of(some_order_explains(
                    written({acquire("a", 0, 1, {.fence = 1}), release("a", 2, 3, phase::failed)}), searching)),
                ElementsAre("C9"));
}

TEST(Order, ExplainsAReleaseThatFoundWhatItsOwnFirstSendingDid) {
    const auto twice = written(
        {acquire("a", 0, 1, {.fence = 1}), release("a", 2, 3, phase::failed), acquire("b", 4, 5, {.fence = 2})});
    EXPECT_THAT(names_of(some_order_explains(twice, searching)), ElementsAre("C9"));
    EXPECT_THAT(some_order_explains(twice, {.search = true, .resends = true}), IsEmpty());
}

TEST(Order, ExplainsARefusalOfOneWhoseGrantWasUndone) {
    const auto undone = written({acquire("a", 0, 9, {.wait = 0, .outcome = phase::failed}),
                                 acquire("b", 1, 2, {.wait = 0, .outcome = phase::failed}),
                                 acquire("c", 3, 4, {.fence = 2}), release("c", 12, 13)});
    EXPECT_THAT(names_of(some_order_explains(undone, searching)), ElementsAre("C9"));
    EXPECT_THAT(some_order_explains(undone, {.search = true, .resends = true}), IsEmpty());
    const auto after = written({acquire("a", 0, 1, {.wait = 0, .outcome = phase::failed}),
                                acquire("c", 3, 4, {.fence = 2}), acquire("b", 5, 6, {.fence = 3})});
    EXPECT_THAT(names_of(some_order_explains(after, {.search = true, .resends = true})), ElementsAre("C9"));
}

TEST(Order, ExplainsAGrantThatHadBeenUndoneBefore) {
    const auto twice =
        written({acquire("a", 0, 9, {.fence = 5}), acquire("b", 1, 2, {.wait = 0, .outcome = phase::failed}),
                 acquire("c", 3, 4, {.fence = 2}), release("c", 5, 6), release("a", 10, 11)});
    EXPECT_THAT(names_of(some_order_explains(twice, searching)), ElementsAre("C9"));
    EXPECT_THAT(some_order_explains(twice, {.search = true, .resends = true}), IsEmpty());
}

TEST(Order, IsNotAskedForWhereALeaseMayHaveEnded) {
    const auto all = written({acquire("a", 0, 1, {.fence = 1}), release("a", 410, 411, phase::failed)});
    EXPECT_THAT(some_order_explains(all, searching), IsEmpty());
}

TEST(Order, CountsPermits) {
    const auto two =
        written({acquire("a", 0, 1, {.fence = 1, .slots = {0}}), acquire("b", 2, 3, {.fence = 2, .slots = {1}})});
    EXPECT_THAT(some_order_explains(two, {.limit = 2, .search = true}), IsEmpty());
    EXPECT_THAT(names_of(some_order_explains(two, searching)), ElementsAre("C9"));
}

}  // namespace
}  // namespace tranca::faults_test
