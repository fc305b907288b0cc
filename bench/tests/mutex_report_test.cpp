// What the sections about the mutex tell people and programs.

#include <gtest/gtest.h>

#include <chrono>

#include "contended/contest_report.hpp"
#include "handoff/handoff_report.hpp"
#include "renewal/vigil_report.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

contest_result granted(const char* primitive, int workers, worker_kind kind, std::uint64_t often) {
    contest_result made{.setting = {primitive, workers, kind}};
    made.seconds = 2;
    made.acquisitions = often;
    made.fewest = 10;
    made.most = 12;
    made.commands_per_acquire = 3;
    made.wait.record(50'000);
    made.longest_wait_us = 50;
    return made;
}

std::vector<contest_result> contest_of(int workers, std::uint64_t raw, std::uint64_t mutex) {
    return {granted("raw", workers, worker_kind::thread, raw), granted("mutex", workers, worker_kind::thread, mutex)};
}

TEST(ContestRow, HasTheNamesProgramsReadItBy) {
    const auto row = contest_row(granted("mutex", 16, worker_kind::process, 400));
    for (const char* name : {"primitive", "workers", "kind", "acquisitions_per_s", "commands_per_acquire",
                             "wait_us_p50", "wait_us_p99", "wait_us_max", "fairness"})
        EXPECT_TRUE(row.contains(name)) << name;
    EXPECT_EQ(row["kind"], "process");
    EXPECT_EQ(row["acquisitions_per_s"], 200.0);
    EXPECT_DOUBLE_EQ(row["fairness"].get<double>(), 1.2);
}

TEST(ContestRow, HasNoFairnessWhereSomebodyGotNothing) {
    auto starved = granted("raw", 64, worker_kind::thread, 400);
    starved.fewest = 0;
    EXPECT_TRUE(contest_row(starved)["fairness"].is_null());
}

TEST(ContestClaims, SayNothingOfWhatWasNotMeasured) {
    EXPECT_TRUE(contest_claims({}).empty());
    EXPECT_TRUE(contest_claims({granted("raw", 64, worker_kind::thread, 400)}).empty());
    EXPECT_EQ(contest_claims({granted("mutex", 64, worker_kind::process, 400)}).size(), 2U);
}

TEST(ContestClaims, FiveTimesTheRawLockFromFourThreadsAndTwentyTimesWith64) {
    const auto four = contest_claims(contest_of(4, 100, 500));
    ASSERT_EQ(four.size(), 3U);
    EXPECT_TRUE(four[2].holds);
    EXPECT_FALSE(contest_claims(contest_of(4, 100, 499))[2].holds);
    const auto many = contest_claims(contest_of(64, 100, 1'999));
    ASSERT_EQ(many.size(), 4U);
    EXPECT_TRUE(many[2].holds);
    EXPECT_FALSE(many[3].holds);
    EXPECT_EQ(contest_claims(contest_of(2, 100, 100)).size(), 2U) << "two threads promise nothing";
}

TEST(ContestClaims, TheWorstCellOfTheMutexCounts) {
    auto greedy = granted("mutex", 256, worker_kind::process, 400);
    greedy.commands_per_acquire = 4.01;
    auto unfair = granted("mutex", 4, worker_kind::thread, 400);
    unfair.fewest = 7;
    const auto claims = contest_claims({greedy, unfair});
    EXPECT_FALSE(claims[0].holds);
    EXPECT_FALSE(claims[1].holds);
    auto raw = granted("raw", 4, worker_kind::process, 400);
    raw.commands_per_acquire = 90;
    EXPECT_TRUE(contest_claims({granted("mutex", 4, worker_kind::process, 400), raw})[0].holds);
}

TEST(ContestTable, HasACellForEveryColumn) {
    const auto made = contest_table(contest_of(4, 100, 700));
    ASSERT_EQ(made.rows.size(), 3U) << "and a line between the two";
    EXPECT_EQ(made.rows[2].size(), made.columns.size());
    EXPECT_EQ(made.rows[0][3], "7.0");
}

TEST(HandoffRow, HasTheNamesProgramsReadItBy) {
    const auto row = handoff_row({"mutex", "tcp", 1'000, 100, 1'100.0, 1'900.0});
    for (const char* name : {"primitive", "transport", "delay_us", "p50_us", "p99_us"})
        EXPECT_TRUE(row.contains(name)) << name;
    EXPECT_EQ(row["delay_us"], 1'000);
}

TEST(HandoffClaims, CountInRoundTrips) {
    const auto claims = handoff_claims({{"raw", "tcp", 0, 9, 100, 120},
                                        {"mutex", "tcp", 0, 9, 250, 999},
                                        {"raw", "tcp", 1'000, 9, 1'200, 1'300},
                                        {"mutex", "tcp", 1'000, 9, 1'651, 1'700}});
    ASSERT_EQ(claims.size(), 3U);
    EXPECT_TRUE(claims[0].holds);
    EXPECT_TRUE(claims[1].holds);
    EXPECT_FALSE(claims[2].holds) << "1,650 us is what 1.5 times 1 ms and the loopback make";
    EXPECT_TRUE(handoff_claims({{"raw", "tcp", 0, 9, 100, 120}}).empty());
}

TEST(VigilRow, HasTheNamesProgramsReadItBy) {
    const auto row = vigil_row({.setting = {100, 3'000ms}, .renewals = 300});
    for (const char* name : {"guards", "threads", "connections", "renewals", "lost", "missed"})
        EXPECT_TRUE(row.contains(name)) << name;
    EXPECT_EQ(row["guards"], 100);
}

TEST(VigilClaim, NoneLostNoneMissedAndThreeEach) {
    const vigil_result good{.setting = {100, 3'000ms}, .renewals = 300};
    EXPECT_TRUE(vigil_claim(good).holds);
    auto bad = good;
    bad.lost = 1;
    EXPECT_FALSE(vigil_claim(bad).holds);
    bad = good;
    bad.missed = 1;
    EXPECT_FALSE(vigil_claim(bad).holds);
    bad = good;
    bad.renewals = 299;
    EXPECT_FALSE(vigil_claim(bad).holds);
}

}  // namespace
}  // namespace tranca::bench
