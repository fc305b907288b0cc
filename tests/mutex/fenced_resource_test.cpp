// A resource that keeps the largest fence it has seen, and refuses whoever comes with an older one.
#include "mutex/mutex_fixture.hpp"
#include "support/faults.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

using FencedResource = mutex_fixture;

TEST_F(FencedResource, RefusesOlderWriters) {
    EXPECT_TRUE(fenced_write(redis, "ledger", 7, "seven"));
    EXPECT_FALSE(fenced_write(redis, "ledger", 6, "six"));
    EXPECT_TRUE(fenced_write(redis, "ledger", 7, "seven again"));
    EXPECT_TRUE(fenced_write(redis, "ledger", 8, "eight"));
    EXPECT_EQ(raw.must({"HGET", "ledger", "value"}), "eight");
}

// On writes alone an update is lost: the old one reads, the new one reads, the old one writes.
TEST_F(FencedResource, RefusesWhoeverReadBeforeANewerReader) {
    ASSERT_TRUE(fenced_write(redis, "ledger", 1, "start"));
    EXPECT_EQ(fenced_read(redis, "ledger", 2).value, "start");
    EXPECT_EQ(fenced_read(redis, "ledger", 3).value, "start");
    EXPECT_FALSE(fenced_write(redis, "ledger", 2, "too late"));
    EXPECT_TRUE(fenced_read(redis, "ledger", 2).refused);
    EXPECT_TRUE(fenced_write(redis, "ledger", 3, "in time"));
}

TEST_F(FencedResource, TellsAMissingValueFromAnEmptyOne) {
    const auto missing = fenced_read(redis, "ledger", 5);
    EXPECT_FALSE(missing.refused);
    EXPECT_FALSE(missing.value);
    ASSERT_TRUE(fenced_write(redis, "ledger", 5, ""));
    EXPECT_EQ(fenced_read(redis, "ledger", 5).value, "");
    EXPECT_FALSE(fenced_write(redis, "ledger", 4, "older than a reader of nothing"));
}

// The numbers of real fences need every one of their digits.
TEST_F(FencedResource, ComparesNeighboursAtTheEndOfTheRange) {
    constexpr std::uint64_t last = (std::uint64_t{1} << 53) - 1;
    EXPECT_TRUE(fenced_write(redis, "ledger", last, "last"));
    EXPECT_FALSE(fenced_write(redis, "ledger", last - 1, "before"));
    EXPECT_EQ(raw.must({"HGET", "ledger", "fence"}), std::to_string(last));
}

TEST_F(FencedResource, TakesAnyBytes) {
    const std::string bytes{"a\0%s\r\n\xff", 8};
    ASSERT_TRUE(fenced_write(redis, "ledger", 1, bytes));
    EXPECT_EQ(fenced_read(redis, "ledger", 1).value, bytes);
}

// Written, cut, and not to be reached again: nobody knows, and so it is told.
TEST_F(FencedResource, ThatCannotBeAskedAgainIsInDoubt) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url()};
    ASSERT_TRUE(fenced_write(through, "ledger", 1, "one"));
    gate.swallow_reply("EVALSHA", testing::ending::reset);
    gate.refuse_connections();
    const auto failure = thrown_by([&] { static_cast<void>(fenced_write(through, "ledger", 2, "two")); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(raw.must({"HGET", "ledger", "value"}), "two");
    EXPECT_TRUE(failure->in_doubt()) << failure->what();
}

TEST_F(FencedResource, OfAnotherTypeIsAnError) {
    testing::make_wrong_type(server, "ledger");
    for (const auto& use : {std::function<void()>{[&] { static_cast<void>(fenced_write(redis, "ledger", 1, "x")); }},
                            std::function<void()>{[&] { static_cast<void>(fenced_read(redis, "ledger", 1)); }}}) {
        const auto failure = thrown_by(use);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::wrong_type);
        EXPECT_THAT(failure->what(), ::testing::HasSubstr("ledger"));
    }
    EXPECT_EQ(raw.must({"TYPE", "ledger"}), "list");
}

}  // namespace
}  // namespace tranca::mutex_test
