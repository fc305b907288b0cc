// The fencing number: one order of all grants, whatever clocks do, as long as no majority forgets.
#include "quorum/quorum_fixture.hpp"

namespace tranca::quorum_test {
namespace {

class Fence : public quorum_fixture {
protected:
    /// What a client whose clock is ahead left on a node.
    static void store(std::size_t number, std::uint64_t fence) {
        node(number).must({"SET", fence_key, std::to_string(fence - 8)});
    }
    static std::uint64_t now(std::chrono::seconds later = 0s) {
        const auto time = std::chrono::system_clock::now().time_since_epoch() + later;
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
    }
};

TEST_F(Fence, GrowsWithEveryGrantOfEveryClient) {
    const voters mine{urls(3)};
    const voters others{urls(3)};
    std::uint64_t last = 0;
    for (int i = 0; i < 50; ++i) {
        const auto held = (i % 2 == 0 ? mine : others).lock().acquire();
        EXPECT_GT(held.fence(), last);
        last = *held.fence();
    }
}

// One node has seen a larger number: the others confirm, and it is not needed.
TEST_F(Fence, IsConfirmedByAMajorityThoughOneNodeIsAhead) {
    store(0, now(60s));
    const voters mine{urls(3)};
    const auto held = mine.lock().acquire();
    EXPECT_EQ(votes_for(held).round_trips, 1);
    EXPECT_LT(held.fence(), now(30s));
}

// A majority has seen a larger one: a second round raises it above.
TEST_F(Fence, IsRaisedInASecondRoundWhereTheClockIsBehind) {
    const auto ahead = now(60s);
    store(0, ahead);
    store(1, ahead + 5);
    const voters mine{urls(3)};
    auto held = mine.lock().acquire();
    EXPECT_EQ(votes_for(held).round_trips, 2);
    EXPECT_GT(held.fence(), ahead);
    const auto first = *held.fence();
    EXPECT_TRUE(eventually(patience, [&] { return value(0).substr(33).starts_with(std::to_string(first)); }));
    held.release();
    // It has learned how far behind its clock is.
    const auto next = mine.lock().acquire();
    EXPECT_GT(next.fence(), first);
}

TEST_F(Fence, OffsetOnceLearnedSavesTheSecondRound) {
    const voters mine{urls(3)};
    const auto lock = mine.lock();
    for (std::size_t i = 0; i < 3; ++i)
        store(i, now(60s));
    EXPECT_EQ(votes_for(lock.acquire()).round_trips, 2);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(votes_for(lock.acquire()).round_trips, 1);
}

// The word "strictly": a node that stands at the number already does not confirm it.
TEST_F(Fence, RaisesOnlyWhatIsStrictlySmaller) {
    const std::string mine(32, 'a');
    const auto raise = [&](std::uint64_t fence) {
        const client redis{node(0).url()};
        return run(*redis.pool(), scripts::raise_quorum().call({lock_key, fence_key}, mine, "me", milliseconds{10'000},
                                                               std::to_string(fence)))
            .integer();
    };
    EXPECT_EQ(raise(1'000), 0);  // not ours
    node(0).must({"SET", lock_key, mine + "||me"});
    store(0, 1'000);
    EXPECT_EQ(raise(999), 0);
    EXPECT_EQ(raise(1'000), 0);
    EXPECT_EQ(stored(0), 1'000u);
    EXPECT_EQ(raise(1'001), 1);
    EXPECT_EQ(stored(0), 1'001u);
    EXPECT_EQ(raise(1'001), 1);  // a resend of the same owner's
    node(0).must({"SET", lock_key, std::string(32, 'b') + "|1001|me"});
    EXPECT_EQ(raise(1'002), 0);
}

TEST_F(Fence, AResendIsAnsweredAlike) {
    const std::string mine(32, 'a');
    const client redis{node(0).url()};
    const auto acquire = [&](const std::string& owner, std::uint64_t fence) {
        return run(*redis.pool(), scripts::acquire_quorum().call({lock_key, fence_key}, owner, "me",
                                                                 milliseconds{10'000}, fence, fence - 8));
    };
    const auto proposed = now();
    const auto first = acquire(mine, proposed);
    EXPECT_EQ(first.text(), std::to_string(proposed));
    const auto again = acquire(mine, proposed);
    EXPECT_EQ(again.text(), std::to_string(proposed));
    const auto other = acquire(std::string(32, 'b'), proposed + 100);
    EXPECT_EQ(other[0].integer(), 0);
    EXPECT_GT(other[1].integer(), 9'000);
    EXPECT_EQ(stored(0), proposed);
}

// More than ten minutes ahead of the server's time is a mistake that nobody has to live with.
TEST_F(Fence, OfAClockFarAheadIsNotStored) {
    const std::string mine(32, 'a');
    const client redis{node(0).url()};
    const auto found =
        run(*redis.pool(), scripts::acquire_quorum().call({lock_key, fence_key}, mine, "me", milliseconds{10'000},
                                                          now(3'600s), now(3'600s) - 8));
    EXPECT_EQ(found[0].integer(), 2);
    EXPECT_LT(std::stoull(std::string{found[2].text()}), now(60s));
    EXPECT_GT(std::stoull(std::string{found[2].text()}), now() - 60'000'000);
    EXPECT_EQ(stored(0), 0u);
}

TEST_F(Fence, OfAClockADayBehindIsNotStored) {
    const std::string mine(32, 'a');
    const client redis{node(0).url()};
    const auto found = run(*redis.pool(), scripts::acquire_quorum().call({lock_key, fence_key}, mine, "me",
                                                                         milliseconds{10'000}, "1000000", "999992"));
    EXPECT_EQ(found[0].integer(), 2);
    EXPECT_EQ(stored(0), 0u);
}

TEST_F(Fence, GrowsThoughAMinorityForgets) {
    const voters mine{urls(5)};
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < 10; ++i) {
        auto held = mine.lock().acquire();
        EXPECT_GT(held.fence(), last);
        last = *held.fence();
        held.release();
        node(i % 5).must({"FLUSHALL"});
        node((i + 1) % 5).must({"FLUSHALL"});
    }
}

// A confirms on two of three; one of them forgets; B, whose clock is behind, must not be confirmed by the forgetful one
// and the third. That needs one confirmation more, as the header says.
TEST_F(Fence, OneMoreConfirmationSurvivesANodeThatForgets) {
    auto options = by_hand();
    options.confirmations = confirmations::one_more;
    const voters mine{urls(3)};
    auto held = mine.lock(options).acquire();
    EXPECT_EQ(votes_for(held).confirmed_on, 3u);
    held.release();
    node(2).kill_hard();
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(mine.lock(options).try_acquire()); }));  // the price: all of three
    EXPECT_TRUE(mine.lock().try_acquire());
    node(2).start_again();
    const voters five{urls(5)};
    node(0).kill_hard();
    EXPECT_GE(votes_for(five.lock(options).acquire()).confirmed_on, 4u);
}

TEST_F(Fence, GoesOnFromThatOfAMutexOnANode) {
    const client redis{node(0).url()};
    std::uint64_t last = *mutex(redis, "thing").acquire().fence();
    const voters one{urls(1)};
    const auto next = *one.lock().acquire().fence();
    EXPECT_GT(next, last);
    EXPECT_GT(*mutex(redis, "thing").acquire().fence(), next);
}

TEST_F(Fence, OutlivesItsLockByADay) {
    const voters mine{urls(3)};
    static_cast<void>(held_on_all(mine.lock(), 3).release());
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
    EXPECT_GT(node(0).must({"PTTL", fence_key}).integer, 24 * 3'600'000);
}

}  // namespace
}  // namespace tranca::quorum_test
