// What a holder is promised: more time by a majority, and the truth in time.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stop_token>

#include "quorum/quorum_fixture.hpp"

namespace tranca::quorum_test {
namespace {

class Holder : public quorum_fixture {
protected:
    [[nodiscard]] static std::int64_t left(std::size_t number) { return node(number).must({"PTTL", lock_key}).integer; }
    [[nodiscard]] static quorum_options renewed(milliseconds ttl) {
        auto made = by_hand(ttl, std::min<milliseconds>(ttl / 4, 300ms));
        made.lease.renew_every.reset();
        return made;
    }
};

TEST_F(Holder, ExtendsOnAllNodes) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(by_hand(3s)), 3);
    const auto before = held.safe_until();
    EXPECT_TRUE(held.extend(60s));
    EXPECT_GT(held.safe_until(), before);
    EXPECT_TRUE(eventually(patience, [&] { return left(0) > 50'000 && left(1) > 50'000 && left(2) > 50'000; }));
}

TEST_F(Holder, ExtendsByAMajority) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(), 3);
    node(0).kill_hard();
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(Holder, IsLostWhereAMajorityHasForgotten) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(), 3);
    const auto lost = held.lost();
    node(0).must({"FLUSHALL"});
    EXPECT_TRUE(held.extend());  // two of three remember
    node(1).must({"FLUSHALL"});
    EXPECT_FALSE(held.extend());
    EXPECT_FALSE(held);
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_FALSE(exists(0));  // an extension creates nothing
    EXPECT_FALSE(exists(1));
    EXPECT_EQ(held.release(), release_result::expired);
    EXPECT_TRUE(eventually(patience, [&] { return !exists(2); }));
}

TEST_F(Holder, StaysAsItWasWhereAMajorityCannotBeAsked) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(by_hand(2s)), 3);
    const auto before = held.safe_until();
    node(0).freeze();
    node(1).freeze();
    const stopwatch since_start;
    EXPECT_TRUE(thrown_by([&] { held.extend(); }));
    EXPECT_LT(since_start.elapsed(), 1s);
    EXPECT_EQ(held.safe_until(), before);
    EXPECT_TRUE(held);
    node(0).resume();
    node(1).resume();
    EXPECT_TRUE(eventually(1s, [&] {
        try {
            return held.extend();
        } catch (const error&) {
            return false;
        }
    }));
}

// Nodes that are silent may have shortened the lease all the same.
TEST_F(Holder, BelievesAShorterLeaseThatNobodyConfirmed) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(by_hand(20s)), 3);
    for (std::size_t i = 0; i < 3; ++i)
        node(i).freeze();
    const auto failure = thrown_by([&] { held.extend(500ms); });
    for (std::size_t i = 0; i < 3; ++i)
        node(i).resume();
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->in_doubt()) << failure->what();
    EXPECT_LE(held.safe_until(), clock::now() + 500ms);
    ASSERT_TRUE(eventually(5s, [&] { return !exists(0) && !exists(1) && !exists(2); }));
    EXPECT_FALSE(held);
}

// One that did shorten it is no longer good for the time that the others keep.
TEST_F(Holder, BelievesAShorterLeaseThatFewConfirmed) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(by_hand(20s)), 3);
    node(0).kill_hard();
    node(1).kill_hard();
    const auto failure = thrown_by([&] { held.extend(500ms); });
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->in_doubt()) << failure->what();
    EXPECT_LE(held.safe_until(), clock::now() + 500ms);
}

// Carried out and cut off by all of them, which cannot be asked again.
TEST_F(Holder, BelievesAShorterLeaseThatWasCutOff) {
    const gates_before all{3};
    const voters mine{all.urls()};
    auto held = held_on_all(mine.lock(by_hand(20s, 5s)), 3);
    EXPECT_TRUE(held.extend());
    all.cut_off_after(" 500$");  // of this extension, and not of the one before that a node may still owe an answer to
    const auto failure = thrown_by([&] { held.extend(500ms); });
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->in_doubt()) << failure->what();
    ASSERT_TRUE(eventually(5s, [&] { return holding(3) == 0; }));
    EXPECT_FALSE(held);
}

TEST_F(Holder, IsRenewedWhileItsGuardLives) {
    const voters mine{urls(3)};
    const auto held = held_on_all(mine.lock(renewed(1s)), 3);
    const auto lost = held.lost();
    node(0).kill_hard();
    EXPECT_TRUE(throughout(2'500ms, [&] { return static_cast<bool>(held); }));
    EXPECT_FALSE(lost.stop_requested());
}

TEST_F(Holder, HearsOfALossBeforeItsKeysCanExpire) {
    const voters mine{urls(3)};
    auto options = renewed(2s);
    options.lease.margin = 600ms;  // so much that a machine that stands still for a moment does not decide
    const auto held = held_on_all(mine.lock(options), 3);
    std::atomic<clock::rep> heard_at{0};
    const std::stop_callback on_loss{held.lost(), [&] { heard_at = clock::now().time_since_epoch().count(); }};
    for (std::size_t i = 0; i < 3; ++i)
        node(i).freeze();
    EXPECT_TRUE(eventually(5s, [&] { return heard_at != 0; }));
    for (std::size_t i = 0; i < 3; ++i)
        node(i).resume();
    const clock::time_point heard{clock::duration{heard_at}};
    EXPECT_GE(heard, held.safe_until());
    EXPECT_LT(heard, held.safe_until() + 600ms);
}

// Frozen nodes of a quorum do not keep another lock of the same client from being renewed.
TEST_F(Holder, DelaysNoOtherLeaseOfItsClient) {
    const voters mine{urls(3)};
    auto options = renewed(10s);
    options.lease.renew_every = 10ms;
    options.time_limit = 3s;
    const auto held = mine.lock(options).acquire();
    mutex_options quick;
    quick.lease.ttl = 900ms;
    const client own{node(0).url()};
    const mutex other{own, "other", quick};
    const voters shared{{node(0).url(), node(1).url(), node(2).url()}};
    const auto slow = quorum_mutex{{own, shared[1], shared[2]}, "slow", options}.acquire();
    const auto watched = other.acquire();
    node(1).freeze();
    node(2).freeze();
    EXPECT_TRUE(throughout(1'200ms, [&] { return static_cast<bool>(watched); }));
    node(1).resume();
    node(2).resume();
}

TEST_F(Holder, InAChildHoldsNothing) {
    const voters mine{urls(3)};
    auto held = held_on_all(mine.lock(), 3);
    const auto child = ::fork();
    if (child == 0) {
        const bool right = !held && held.release() == release_result::expired;
        { const guard gone = std::move(held); }
        ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(held);
    EXPECT_EQ(holding(3), 3u);
}

TEST_F(Holder, OfAChildIsAnotherOne) {
    const voters mine{urls(3)};
    const auto lock = mine.lock();
    { const auto held = lock.acquire(); }
    const auto child = ::fork();
    if (child == 0) {
        bool right = false;
        {
            const auto held = lock.try_acquire_for(5s);
            right = held.has_value();
        }
        ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(lock.try_acquire_for(5s));
}

}  // namespace
}  // namespace tranca::quorum_test
