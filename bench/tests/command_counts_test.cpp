#include "server/command_counts.hpp"

#include <gtest/gtest.h>

namespace tranca::bench {
namespace {

TEST(CommandCounts, AddUpWhatWasCalledSince) {
    const command_counts before("# Commandstats\r\ncmdstat_set:calls=3,usec=1\r\ncmdstat_info:calls=1,usec=1\r\n");
    const command_counts after(
        "# Commandstats\r\ncmdstat_set:calls=10,usec=1,usec_per_call=0.10\r\ncmdstat_info:calls=2,usec=1\r\n"
        "cmdstat_evalsha:calls=4,usec=70\r\n");
    EXPECT_EQ(after.since(before, {}), 11U);
    EXPECT_EQ(after.since(before, {"set"}), 4U);
    EXPECT_EQ(before.since(before, {}), 0U);
}

TEST(CommandCounts, ASubcommandGoesWithItsCommand) {
    const command_counts after("cmdstat_client|id:calls=3,usec=7\r\ncmdstat_client|unblock:calls=2,usec=5\r\n");
    EXPECT_EQ(after.since({}, {}), 5U);
    EXPECT_EQ(after.since({}, {"client"}), 0U);
}

TEST(CommandCounts, ReadNothingFromNothing) { EXPECT_EQ(command_counts("").since({}, {}), 0U); }

}  // namespace
}  // namespace tranca::bench
