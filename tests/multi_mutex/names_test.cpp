// Which names, and what they are on the server: each one a mutex of that name.
#include "multi_mutex/multi_fixture.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::multi_test {
namespace {

class Together : public multi_fixture {};

TEST_F(Together, HoldsAllOfThemOrNone) {
    {
        const auto held = both().acquire();
        EXPECT_EQ(owner("a").size(), 32u);
        EXPECT_EQ(owner("a"), owner("b"));
        EXPECT_FALSE(both().try_acquire());
        EXPECT_FALSE(multi_mutex(stranger, {"b", "c"}).try_acquire());
        EXPECT_EQ(raw.exists("lock:c"), 0);
        EXPECT_TRUE(multi_mutex(stranger, {"c", "d"}).try_acquire());
    }
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_F(Together, TakesNothingWhereTheLastOneIsBusy) {
    raw.set("lock:b", "foreign", 60s);
    for (int i = 0; i < 10; ++i)
        EXPECT_FALSE(both().try_acquire());
    EXPECT_EQ(raw.exists("lock:a"), 0);
    EXPECT_EQ(raw.exists("{lock:a}:fence"), 0);  // and no trace of it
    EXPECT_EQ(raw.exists("{lock:b}:wait"), 0);
    EXPECT_EQ(raw.get("lock:b"), "foreign");
    EXPECT_GT(raw.pttl("lock:b"), 59'000);
}

TEST_F(Together, ExcludesAMutexOfEitherNameAndIsExcludedByIt) {
    {
        const auto held = both().acquire();
        EXPECT_FALSE(single("a").try_acquire());
        EXPECT_FALSE(single("b").try_acquire());
    }
    for (const std::string name : {"a", "b"}) {
        const auto held = single(name).acquire();
        EXPECT_FALSE(both().try_acquire());
        EXPECT_FALSE(both().try_acquire_for(20ms));
    }
    EXPECT_TRUE(both().try_acquire());
}

TEST_F(Together, IsSeenByInspectAndFindLocks) {
    const auto held = both().acquire();
    for (const std::string name : {"a", "b"}) {
        const auto seen = single(name).inspect();
        EXPECT_TRUE(seen.held);
        EXPECT_EQ(seen.label, "me");
        EXPECT_EQ(seen.fence, held.fence());
        EXPECT_GT(seen.remaining, 9s);
    }
    EXPECT_EQ(find_locks(redis).size(), 2u);
}

TEST_F(Together, LosesANameToForceRelease) {
    auto held = both().acquire();
    EXPECT_TRUE(single("b").force_release());
    EXPECT_TRUE(single("b").try_acquire());
    EXPECT_FALSE(held.extend());
    EXPECT_FALSE(held);
    EXPECT_EQ(held.release(), release_result::expired);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_F(Together, CountsANameGivenTwiceOnce) {
    const multi_mutex same{redis, {"a", "a", "b", "a"}};
    EXPECT_EQ(same.size(), 2u);
    auto held = same.acquire();
    EXPECT_EQ(held.release(), release_result::released);
    auto alone = multi_mutex{redis, {"a", "a"}}.acquire();
    EXPECT_EQ(alone.release(), release_result::released);
}

TEST_F(Together, TakesAListMadeAtRunTimeOfUpToAHundred) {
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i)
        names.push_back("n" + std::to_string(i));
    {
        auto held = multi_mutex{redis, names}.acquire();
        for (const auto& name : names)
            ASSERT_EQ(owner(name).size(), 32u);
        EXPECT_FALSE(single("n99").try_acquire());
        EXPECT_TRUE(held.extend());
        EXPECT_EQ(held.release(), release_result::released);
    }
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    names.push_back("n100");
    const auto failure = thrown_by([&] { multi_mutex{redis, names}; });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::invalid_argument);
    EXPECT_THAT(failure->what(), ::testing::HasSubstr("101"));
}

TEST_F(Together, RefusesBadNamesAndOptionsBeforeAnythingIsSent) {
    const auto connections = raw.info("total_connections_received");
    const client newcomer{server.url()};
    for (const auto& failure : {thrown_by([&] { multi_mutex(newcomer, std::vector<std::string>{}); }), thrown_by([&] {
                                    multi_mutex(newcomer, {"a", ""});
                                }),
                                thrown_by([&] {
                                    multi_mutex(newcomer, {"a", "b{"});
                                }),
                                thrown_by([&] {
                                    multi_mutex(newcomer, {"a", "b"}, lasting(0ms));
                                }),
                                thrown_by([&] {
                                    multi_mutex(newcomer, {"a", "b"}, lasting(10s, 10s));
                                }),
                                thrown_by([&] { multi_mutex(newcomer, {"a"}, {.label = std::string(201, 'x')}); })}) {
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::invalid_argument);
    }
    EXPECT_EQ(raw.info("total_connections_received"), connections);
}

TEST_F(Together, HasAPrefixOfItsOwnIfWished) {
    const multi_mutex elsewhere{redis, {"a", "b"}, {.prefix = "mine:"}};
    const auto held = elsewhere.acquire();
    EXPECT_TRUE(both().try_acquire());
    EXPECT_FALSE((mutex{stranger, "a", {.prefix = "mine:"}}.try_acquire()));
}

// Names that could be taken for one another's helpers, with and without hash tags. Case L01.
TEST_F(Together, KeepsNeighboursApart) {
    auto first = multi_mutex{redis, {"a", "{a}", "x{a}y", "a:wait"}}.acquire();
    auto second = multi_mutex{stranger, {"b", "{a}:wake", "x{a}z", "fence"}}.acquire();
    EXPECT_EQ(first.release(), release_result::released);
    EXPECT_EQ(second.release(), release_result::released);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_F(Together, CostsOneRoundTripEachWay) {
    both().acquire().release();
    testing::monitor_reader monitor{server};
    auto mark = monitor.mark();
    auto held = both().acquire();
    EXPECT_THAT(testing::names(monitor.commands_since(mark)), ::testing::ElementsAre("EVALSHA"));
    mark = monitor.mark();
    held.release();
    EXPECT_THAT(testing::names(monitor.commands_since(mark)), ::testing::ElementsAre("EVALSHA"));
}

// Case A17, at the second name.
TEST_F(Together, LeavesAForeignValueOfAnotherTypeAlone) {
    testing::make_wrong_type(server, "lock:b");
    const auto failure = thrown_by([&] { static_cast<void>(both().try_acquire_for(20ms)); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::wrong_type);
    EXPECT_EQ(raw.exists("lock:a"), 0);
    raw.del("lock:b");
    raw.must({"LPUSH", "{lock:b}:fence", "x"});
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(both().try_acquire()); }));
    EXPECT_EQ(raw.exists("lock:a"), 0);
    EXPECT_EQ(raw.must({"LLEN", "{lock:b}:fence"}).integer, 1);
}

}  // namespace
}  // namespace tranca::multi_test
