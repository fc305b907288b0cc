// One number for all names, larger than every earlier one of each.
#include "multi_mutex/multi_fixture.hpp"

namespace tranca::multi_test {
namespace {

class Fences : public multi_fixture {
protected:
    [[nodiscard]] std::int64_t server_time() {
        const auto time = raw.must({"TIME"});
        return std::stoll(time[0].text) * 1'000'000 + std::stoll(time[1].text);
    }
    void plant(const std::string& name, std::uint64_t fence) {
        raw.set("{lock:" + name + "}:fence", std::to_string(fence), 60s);
    }
};

TEST_F(Fences, AreOneForAllNamesAndKeptAtEach) {
    const auto before = server_time();
    const auto held = both().acquire();
    ASSERT_TRUE(held.fence());
    EXPECT_GE(static_cast<std::int64_t>(*held.fence()), before);
    EXPECT_LE(static_cast<std::int64_t>(*held.fence()), server_time());
    EXPECT_EQ(stored_fence("a"), *held.fence());
    EXPECT_EQ(stored_fence("b"), *held.fence());
    EXPECT_GT(raw.pttl("{lock:a}:fence"), 86'300'000);
}

TEST_F(Fences, GrowForEachNameWhoeverTookIt) {
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        const auto next = i % 3 == 0   ? *both().acquire().fence()
                          : i % 3 == 1 ? *single("a").acquire().fence()
                                       : *multi_mutex{stranger, {"a", "z"}}.acquire().fence();
        EXPECT_GT(next, last);
        last = next;
    }
}

TEST_F(Fences, AreAboveTheLastOneOfEveryName) {
    const auto ahead = static_cast<std::uint64_t>(server_time()) + 3'600'000'000;
    plant("b", ahead);  // as after a switch to a server whose clock is an hour behind
    const auto held = both().acquire();
    EXPECT_EQ(*held.fence(), ahead + 9) << "a mutex of that name may have handed on the eight before";
    EXPECT_EQ(stored_fence("a"), ahead + 9);
    EXPECT_GT(raw.pttl("{lock:a}:fence"), 86'400'000 + 3'590'000);  // for as long as it runs ahead, too
}

TEST_F(Fences, AreAboveWhatThisClientHasSeenElsewhere) {
    plant("elsewhere", static_cast<std::uint64_t>(server_time()) + 60'000'000);
    const auto seen = *mutex{redis, "elsewhere"}.acquire().fence();
    EXPECT_GT(*both().acquire().fence(), seen);
}

TEST_F(Fences, OfADreamerAreNotBelieved) {
    plant("elsewhere", static_cast<std::uint64_t>(server_time()) + 3'600'000'000);  // more than ten minutes ahead
    const auto seen = *mutex{redis, "elsewhere"}.acquire().fence();
    EXPECT_LT(*both().acquire().fence(), seen);
}

TEST_F(Fences, ThatAreUsedUpTakeNothing) {
    constexpr std::uint64_t end = std::uint64_t{1} << 53;
    plant("b", end - 10);
    EXPECT_EQ(*both().acquire().fence(), end - 1);
    const auto failure = thrown_by([&] { static_cast<void>(both().try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->what(), ::testing::HasSubstr("used up"));
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_EQ(stored_fence("b"), end - 1);
}

TEST_F(Fences, AreCheckedByEachResource) {
    auto late = both(lasting(10s)).acquire();
    raw.del("lock:a");  // as if it had expired
    const auto newer = single("a").acquire();
    EXPECT_TRUE(fenced_write(redis, "resource a", *newer.fence(), "new"));
    EXPECT_FALSE(fenced_write(redis, "resource a", *late.fence(), "old"));
    EXPECT_TRUE(fenced_write(redis, "resource b", *late.fence(), "old"));
}

}  // namespace
}  // namespace tranca::multi_test
