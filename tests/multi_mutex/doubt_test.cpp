// Answers that are lost: the same token is asked for again, and finds all of it, a part of it, or none.
#include "multi_mutex/multi_fixture.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::multi_test {
namespace {

class Doubt : public multi_fixture {
protected:
    testing::tcp_gate gate{server.tcp()};
    client through{gate.url() + "?command_timeout=200ms&connect_timeout=200ms"};
};

TEST_F(Doubt, AboutAGrantIsSettledByTheSameTokenAndFence) {
    const multi_mutex lock{through, {"a", "b"}, lasting(60s)};
    lock.acquire().release();
    for (const auto how : {testing::ending::reset, testing::ending::keep_open}) {
        gate.swallow_reply("EVALSHA", how);
        auto held = lock.try_acquire_for(patience);
        ASSERT_TRUE(held);
        EXPECT_EQ(stored_fence("a"), held->fence());
        EXPECT_EQ(stored_fence("b"), held->fence());
        EXPECT_EQ(owner("a"), owner("b"));
        EXPECT_EQ(held->release(), release_result::released);
        EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    }
}

TEST_F(Doubt, AboutAReleaseEndsWithAllOfThemFree) {
    auto held = multi_mutex{through, {"a", "b"}, lasting(60s)}.acquire();
    gate.swallow_reply("EVALSHA", testing::ending::reset);
    EXPECT_EQ(held.release(), release_result::released);  // the second sending finds nothing any more
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_F(Doubt, AboutAGrantNobodyWaitsForIsUndoneAtBothNames) {
    const multi_mutex lock{through, {"a", "b"}, lasting(60s)};
    lock.acquire().release();
    gate.swallow_reply("EVALSHA", testing::ending::keep_open);
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(lock.try_acquire()); }));
    EXPECT_TRUE(eventually(2s, [&] { return keys_left().empty(); }));
}

// The script itself, as a resend finds the server.
class Resend : public multi_fixture {
protected:
    [[nodiscard]] reply ask() {
        return run(*redis.pool(),
                   scripts::acquire_multi().call(names.all(), mine, "me", milliseconds{60s}, "", "0", 0));
    }
    [[nodiscard]] std::uint64_t granted() {
        const auto answer = ask();
        EXPECT_EQ(answer.size(), 1u);
        return std::stoull(std::string{answer[0].text()});
    }

    key_group names{{"lock:a", "lock:b"}};
    token mine{token::generate()};
};

TEST_F(Resend, FindsItsOwnTokenAndTheSameFence) {
    const auto fence = granted();
    raw.must({"PEXPIRE", "lock:a", "1000"});
    EXPECT_EQ(granted(), fence);
    EXPECT_GT(raw.pttl("lock:a"), 50'000);
    EXPECT_EQ(stored_fence("b"), fence);
}

TEST_F(Resend, AfterOneNameLapsedTakesAllAnewWithALargerFence) {
    const auto fence = granted();
    raw.del("lock:b");
    const auto next = granted();
    EXPECT_GT(next, fence);
    EXPECT_EQ(stored_fence("a"), next);
    EXPECT_EQ(stored_fence("b"), next);
    EXPECT_EQ(raw.get("lock:a"), raw.get("lock:b"));
}

TEST_F(Resend, AfterOneNameWasTakenHoldsNoneAndWakesWhoWaitsForTheOther) {
    static_cast<void>(granted());
    raw.set("lock:b", "foreign", 60s);
    pending waiter{single("a")};
    ASSERT_TRUE(asleep(1));
    const auto answer = ask();
    ASSERT_EQ(answer.size(), 2u);
    EXPECT_EQ(answer[0].integer(), 2);
    EXPECT_GT(answer[1].integer(), 50'000);
    EXPECT_TRUE(waiter.granted_within(300ms));
    EXPECT_EQ(raw.get("lock:b"), "foreign");
}

}  // namespace
}  // namespace tranca::multi_test
