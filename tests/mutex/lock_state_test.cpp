// A lock as it looks from outside, and taken away by an operator: cases A03, A18.
#include "mutex/mutex_fixture.hpp"
#include "support/fake_server.hpp"
#include "support/faults.hpp"
#include "support/resp.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

class LockState : public mutex_fixture {
protected:
    [[nodiscard]] static std::vector<std::string> names_of(const std::vector<lock_state>& found) {
        std::vector<std::string> names;
        for (const auto& each : found)
            names.push_back(each.name);
        return names;
    }
};

TEST_F(LockState, OfAFreeLockSaysSo) {
    const auto seen = lock_with().inspect();
    EXPECT_EQ(seen.name, lock_key);
    EXPECT_FALSE(seen.held);
    EXPECT_FALSE(seen.waiters);
    EXPECT_FALSE(seen.lasts_for_ever());
}

TEST_F(LockState, TellsHolderFenceAndTime) {
    auto options = lasting(5s);
    options.label = "billing|on|four";
    const auto held = lock_with(options).acquire();
    const auto seen = another()->lock.inspect();
    EXPECT_TRUE(seen.held);
    EXPECT_EQ(seen.label, "billing|on|four");
    EXPECT_EQ(seen.fence, held.fence());
    ASSERT_TRUE(seen.remaining);
    EXPECT_GT(*seen.remaining, 3s);
    EXPECT_LE(*seen.remaining, 5s);
    EXPECT_FALSE(seen.waiters);
}

TEST_F(LockState, NamesTheProcessByDefault) {
    const auto held = lock_with().acquire();
    EXPECT_EQ(lock_with().inspect().label, process_label());
    EXPECT_THAT(process_label(), ::testing::HasSubstr(":"));
}

TEST_F(LockState, TellsThatSomebodyWaits) {
    auto held = lock_with().acquire();
    const auto other = another();
    std::jthread waiter{[&] { EXPECT_TRUE(other->lock.try_acquire_for(10s)); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    EXPECT_TRUE(lock_with().inspect().waiters);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(LockState, OfAnotherTypeIsAnErrorThatNamesTheKey) {
    testing::make_wrong_type(server, lock_key);
    const auto failure = thrown_by([&] { static_cast<void>(lock_with().inspect()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::wrong_type);
    EXPECT_THAT(failure->what(), ::testing::HasSubstr(lock_key));
}

// A03: a hand-made lock that never comes back.
TEST_F(LockState, OfALockWithoutTtlLastsForEver) {
    testing::make_without_ttl(server, lock_key);
    const auto seen = lock_with().inspect();
    EXPECT_TRUE(seen.lasts_for_ever());
    EXPECT_EQ(seen.label, "");
    EXPECT_FALSE(seen.fence);
    // Nobody repairs, shortens or steals it; waiting for it ends in time.
    const stopwatch since_start;
    EXPECT_FALSE(lock_with().try_acquire_for(300ms));
    EXPECT_LT(since_start.elapsed(), 800ms);
    EXPECT_EQ(raw.get(lock_key), "foreign");
    EXPECT_EQ(raw.pttl(lock_key), -1);
}

// A18: a value that looks as if its time were over is judged by nobody.
TEST_F(LockState, IsNeverJudgedByTimesInTheValue) {
    raw.set(lock_key, "1000|1000|1000");
    EXPECT_FALSE(lock_with().try_acquire_for(100ms));
    EXPECT_EQ(raw.get(lock_key), "1000|1000|1000");
}

TEST_F(LockState, OfEveryLockIsFoundSorted) {
    const auto second = mutex{redis, "b"}.acquire();
    const auto first = mutex{redis, "a"}.acquire();
    raw.set("lock:c", "");
    raw.must({"LPUSH", "lock:a list", "x"});
    raw.must({"HSET", "lock:a hash", "f", "v"});
    raw.set("unlock:d", "x");
    const auto all = find_locks(redis);
    EXPECT_THAT(names_of(all), ::testing::ElementsAre("lock:a", "lock:b", "lock:c"));
    EXPECT_EQ(all.at(0).fence, first.fence());
    EXPECT_EQ(all.at(1).label, process_label());
    EXPECT_TRUE(all.at(2).lasts_for_ever());
    EXPECT_THAT(names_of(find_locks(redis, "lock:[bc]")), ::testing::ElementsAre("lock:b", "lock:c"));
}

TEST_F(LockState, OfThousandsIsFound) {
    raw.must({"EVAL", "for i = 1, 2500 do redis.call('SET', 'lock:' .. i, i, 'PX', 60000) end", "0"});
    EXPECT_EQ(find_locks(redis).size(), 2500u);
    EXPECT_THAT(find_locks(redis, "nothing*"), ::testing::IsEmpty());
}

// A lock that ends between two of the questions about it is no lock without ttl.
TEST_F(LockState, OfALockThatEndsMeanwhileIsNotFound) {
    testing::fake_server ending{testing::after_handshake([](const testing::seen_command& asked) {
        const auto& name = asked.arguments.at(0);
        if (name == "SCAN") return testing::fake_answer{"*2\r\n$1\r\n0\r\n*1\r\n$6\r\nlock:a\r\n"};
        if (name == "GET") return testing::fake_answer{"$5\r\nvalue\r\n"};
        if (name == "PTTL") return testing::fake_answer{":-2\r\n"};
        return testing::fake_answer{":0\r\n"};
    })};
    const client asking{ending.url()};
    EXPECT_THAT(find_locks(asking), ::testing::IsEmpty());
}

TEST_F(LockState, IsTakenAwayByForceAndHandedOn) {
    auto held = lock_with(lasting(30s, 0ms)).acquire();
    const auto other = another();
    std::jthread waiter{[&] { EXPECT_TRUE(other->lock.try_acquire_for(10s)); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    const stopwatch since_forced;
    EXPECT_TRUE(lock_with().force_release());
    waiter.join();
    EXPECT_LT(since_forced.elapsed(), 500ms);  // woken, not when its slice was over
    EXPECT_FALSE(lock_with().force_release());
    EXPECT_NE(held.release(), release_result::released);
}

TEST_F(LockState, IsTakenAwayByForceWhoeverMadeIt) {
    for (const std::string value : {"", "foreign", "0123456789abcdef0123456789abcdef and much more of it"}) {
        raw.set(lock_key, value);
        EXPECT_TRUE(lock_with().force_release()) << value;
        EXPECT_FALSE(exists()) << value;
    }
    EXPECT_FALSE(lock_with().force_release());
}

// Sent again, it finds nothing: the first sending has done it.
TEST_F(LockState, CanForceAReleaseWhoseAnswerIsLost) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url(), told_to(told)};
    const mutex lock{through, "thing"};
    const auto held = lock_with().acquire();
    gate.swallow_reply(releasing(), testing::ending::reset);
    EXPECT_TRUE(lock.force_release());
    EXPECT_FALSE(exists());
}

}  // namespace
}  // namespace tranca::mutex_test
