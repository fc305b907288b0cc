#include <gtest/gtest.h>

#include "market/market_claims.hpp"
#include "market/market_plots.hpp"
#include "market/market_table.hpp"

namespace tranca::bench {
namespace {

cell_result sold(int listers, int buyers, mode how, std::uint64_t bought, std::uint64_t retries = 0) {
    cell_result made{{listers, buyers, how}, 2.0, {}, {}};
    made.total.listed = 2 * bought;
    made.total.bought = bought;
    made.total.retries = retries;
    for (std::uint64_t i = 0; i < bought; ++i)
        made.total.wait.record(50'000);
    return made;
}

TEST(MarketClaims, FineMustSellThreeTimesWhatLockSells) {
    const auto enough = market_claims({sold(5, 5, mode::lock, 100), sold(5, 5, mode::fine, 300)});
    ASSERT_EQ(enough.size(), 2U);
    EXPECT_TRUE(enough[1].holds);
    const auto too_little = market_claims({sold(5, 5, mode::lock, 100), sold(5, 5, mode::fine, 299)});
    EXPECT_FALSE(too_little[1].holds);
}

TEST(MarketClaims, OneRetryWithALockIsTooMany) {
    const auto claims = market_claims({sold(1, 1, mode::watch, 10, 500), sold(1, 1, mode::lock, 10, 1)});
    ASSERT_EQ(claims.size(), 1U);
    EXPECT_FALSE(claims[0].holds);
    EXPECT_TRUE(market_claims({sold(1, 1, mode::watch, 10, 500), sold(1, 1, mode::lock, 10)})[0].holds);
}

TEST(MarketClaims, SayNothingOfWhatWasNotMeasured) {
    EXPECT_TRUE(market_claims({}).empty());
    EXPECT_TRUE(market_claims({sold(5, 5, mode::watch, 3), sold(5, 5, mode::script, 100)}).empty());
}

TEST(MarketRow, HasTheNamesProgramsReadItBy) {
    const auto row = market_row(sold(5, 1, mode::fine, 8));
    for (const char* name : {"listers", "buyers", "mode", "primitive", "seconds", "listed", "bought", "retries",
                             "wait_us_mean", "wait_us_p50", "wait_us_p99"}) {
        EXPECT_TRUE(row.contains(name)) << name;
    }
    EXPECT_EQ(row["mode"], "fine");
    EXPECT_EQ(row["primitive"], "px_lock");
    EXPECT_NEAR(row["wait_us_mean"].get<double>(), 50.0, 0.001);
}

TEST(MarketRow, HasNoWaitWhereNobodyBought) {
    EXPECT_TRUE(market_row(sold(5, 1, mode::watch, 0, 9))["wait_us_mean"].is_null());
}

TEST(MarketTable, StandsBesideTheBook) {
    const auto made = market_table({sold(5, 5, mode::lock, 100), sold(5, 5, mode::fine, 400)});
    ASSERT_EQ(made.rows.size(), 2U);
    for (const auto& row : made.rows)
        ASSERT_EQ(row.size(), made.columns.size());
    EXPECT_EQ(made.rows[1][8], "4.00");
    EXPECT_EQ(made.rows[1][10], "111,000");
    EXPECT_EQ(made.rows[1][13], "5.41");
}

TEST(MarketPlots, HaveAValueForEveryLabel) {
    const auto plots = market_plots({sold(1, 1, mode::watch, 5), sold(5, 5, mode::fine, 9)});
    ASSERT_EQ(plots.size(), 3U);
    for (const auto& plot : plots) {
        for (const auto& one : plot.data)
            EXPECT_EQ(one.y.size(), plot.labels.size()) << plot.title;
    }
}

}  // namespace
}  // namespace tranca::bench
