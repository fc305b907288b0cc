// Mixed use: a rung and a plain client of the book exclude each other on the same server, both ways.
#include "ladder/book_client.hpp"
#include "ladder/schedule.hpp"

namespace tranca::ladder_test {
namespace {

class Interop : public Ladder {
protected:
    static constexpr const char* name = "market:";

    /// The book's client holds: ours is refused, until it releases.
    void book_keeps_out(const auto& ours, const std::string& book_owner, const std::function<bool()>& book_releases) {
        ASSERT_FALSE(book_owner.empty());
        EXPECT_FALSE(ours.try_acquire());
        EXPECT_FALSE(ours.try_acquire_for(5ms));
        EXPECT_TRUE(book_releases());
        EXPECT_TRUE(ours.try_acquire());
    }

    /// Ours holds: the book's client is refused, until ours releases; what it then holds ours cannot release.
    void ours_keeps_out(const auto& ours, const std::function<std::string()>& book_acquires) {
        auto held = ours.acquire();
        EXPECT_EQ(book_acquires(), "");
        EXPECT_TRUE(held.extend());
        EXPECT_EQ(book_acquires(), "");
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_NE(book_acquires(), "");
        EXPECT_EQ(held.release(), release_result::expired);
        EXPECT_EQ(book_acquires(), "");
    }

    book_client book{server.raw()};
};

TEST_F(Interop, OfTheNaiveLockWithListings8And10) {
    const ladder::naive_lock ours{redis, name};
    const auto mine = book.acquire_lock(name);
    book_keeps_out(ours, mine, [&] { return book.release_lock(name, mine); });
    ours_keeps_out(ours, [&] { return book.acquire_lock(name); });
}

TEST_F(Interop, OfTheTimeoutLockWithListing11) {
    const ladder::timeout_lock ours{redis, name};
    const auto mine = book.acquire_lock_with_timeout(name, 10);
    book_keeps_out(ours, mine, [&] { return book.release_lock(name, mine); });
    ours_keeps_out(ours, [&] { return book.acquire_lock_with_timeout(name, 10); });
}

TEST_F(Interop, OfTheTimeoutLockRepairsTheBooksCrashedHolderAndTheOtherWayRound) {
    const ladder::timeout_lock ours{redis, name};
    ASSERT_NE(book.acquire_lock(name), "");  // without a time, as after a crash between the steps
    EXPECT_FALSE(ours.try_acquire());
    EXPECT_GT(raw.pttl("lock:market:"), 0);
    pass_an_age(raw);
    raw.set("lock:market:", "ours, crashed between the steps");
    EXPECT_EQ(book.acquire_lock_with_timeout(name, 10), "");
    EXPECT_GT(raw.pttl("lock:market:"), 0);
    pass_an_age(raw);
    EXPECT_TRUE(ours.try_acquire());
}

TEST_F(Interop, OfThePxLockWithTheRecipeOfSet) {
    const ladder::px_lock ours{redis, name};
    const auto mine = book.set_nx_px("lock:market:", 10'000);
    book_keeps_out(ours, mine, [&] { return book.release_lock(name, mine); });
    ours_keeps_out(ours, [&] { return book.set_nx_px("lock:market:", 10'000); });
}

// Locks of one name are one lock, whichever rung a client stands on.
TEST_F(Interop, OfThreeLockRungsWithOneAnother) {
    const ladder::naive_lock naive{redis, name};
    const ladder::timeout_lock timed{redis, name};
    const ladder::px_lock px{redis, name};
    {
        const auto held = timed.acquire();
        EXPECT_FALSE(px.try_acquire() || naive.try_acquire());
    }
    {
        const auto held = px.acquire();
        EXPECT_FALSE(timed.try_acquire() || naive.try_acquire());
    }
    {
        const auto held = naive.acquire();
        EXPECT_FALSE(px.try_acquire());
    }
    EXPECT_EQ(raw.exists("lock:market:"), 0);
}

TEST_F(Interop, OfTheClockSemaphoreWithListings12And13) {
    const ladder::clock_semaphore ours{redis, name, 1};
    const auto mine = book.acquire_semaphore(name, 1, 10);
    book_keeps_out(ours, mine, [&] { return book.release_semaphore(name, mine); });
    ours_keeps_out(ours, [&] { return book.acquire_semaphore(name, 1, 10); });
}

TEST_F(Interop, OfTheFairSemaphoreWithListings14To16) {
    const ladder::fair_semaphore ours{redis, name, 1};
    const auto mine = book.acquire_fair_semaphore(name, 1, 10);
    EXPECT_TRUE(book.refresh_fair_semaphore(name, mine));
    book_keeps_out(ours, mine, [&] { return book.release_fair_semaphore(name, mine); });
    EXPECT_FALSE(book.refresh_fair_semaphore(name, mine));
    ours_keeps_out(ours, [&] { return book.acquire_fair_semaphore(name, 1, 10); });
}

TEST_F(Interop, OfTheGuardedSemaphoreWithListing17) {
    const ladder::guarded_semaphore ours{redis, name, 1};
    const auto mine = book.acquire_semaphore_with_lock(name, 1, 10);
    book_keeps_out(ours, mine, [&] { return book.release_fair_semaphore(name, mine); });
    ours_keeps_out(ours, [&] { return book.acquire_semaphore_with_lock(name, 1, 10); });
}

TEST_F(Interop, OfTheGuardedSemaphoreSharesTheEntranceWithTheBook) {
    const ladder::guarded_semaphore ours{redis, name, 5};
    const auto entrance = book.acquire_lock(name);
    EXPECT_FALSE(ours.try_acquire());
    EXPECT_TRUE(book.release_lock(name, entrance));
    EXPECT_TRUE(ours.try_acquire());
}

TEST_F(Interop, OfALimitCountsBothKinds) {
    const ladder::fair_semaphore fair{redis, "fair", 5};
    const ladder::clock_semaphore clocked{redis, "clock", 5};
    std::vector<guard> held;
    for (int i = 0; i < 5; ++i) {
        const bool by_us = i % 2 == 0;
        if (by_us) held.push_back(fair.acquire());
        else EXPECT_NE(book.acquire_fair_semaphore("fair", 5, 10), "");
        if (by_us) held.push_back(clocked.acquire());
        else EXPECT_NE(book.acquire_semaphore("clock", 5, 10), "");
    }
    EXPECT_FALSE(fair.try_acquire());
    EXPECT_EQ(book.acquire_fair_semaphore("fair", 5, 10), "");
    EXPECT_FALSE(clocked.try_acquire());
    EXPECT_EQ(book.acquire_semaphore("clock", 5, 10), "");
}

}  // namespace
}  // namespace tranca::ladder_test
