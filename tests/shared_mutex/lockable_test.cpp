// Readers in the standard's std::shared_lock.
#include <mutex>
#include <shared_mutex>
#include <type_traits>

#include "shared_mutex/shared_fixture.hpp"

namespace tranca::shared_mutex_test {
namespace {

template <class Lock>
concept locks_shared = requires(Lock& lock) {
    lock.lock_shared();
};
static_assert(locks_shared<lockable<shared_mutex>>);
static_assert(!locks_shared<lockable<mutex>> && !locks_shared<lockable<shared_side>>);
static_assert(noexcept(std::declval<lockable<shared_mutex>&>().unlock_shared()));
static_assert(!std::is_copy_constructible_v<lockable<shared_mutex>>);

class SharedLockable : public shared_fixture {
protected:
    /// On another thread, as threads hold each for itself.
    static void elsewhere(const std::function<void()>& body) { std::thread{body}.join(); }

    lockable<shared_mutex> both{lock};
};

TEST_F(SharedLockable, IsHeldBySeveralThreadsAtOnce) {
    constexpr int crowd = 4;
    std::atomic<int> inside{0};
    std::atomic<bool> leave{false};
    std::vector<std::jthread> threads;
    for (int i = 0; i < crowd; ++i)
        threads.emplace_back([&] {
            const std::shared_lock reading{both};
            ++inside;
            EXPECT_TRUE(eventually(patience, [&] { return leave.load(); }));
            EXPECT_NO_THROW(both.require());
        });
    EXPECT_TRUE(eventually(patience, [&] { return inside == crowd; }));
    EXPECT_EQ(holders(), crowd);
    leave = true;
    threads.clear();
    EXPECT_EQ(holders(), 0);
    EXPECT_EQ(both.last_release(), release_result::released);
}

TEST_F(SharedLockable, KeepsReadersAndWritersApart) {
    {
        const std::shared_lock reading{both};
        elsewhere([&] {
            EXPECT_FALSE(both.try_lock());
            EXPECT_FALSE(both.try_lock_for(20ms));
            EXPECT_TRUE(both.try_lock_shared());
            both.unlock_shared();
        });
    }
    const std::scoped_lock writing{both};
    elsewhere([&] {
        EXPECT_FALSE(both.try_lock_shared());
        EXPECT_FALSE(both.try_lock_shared_for(20ms));
        EXPECT_FALSE(both.try_lock_shared_until(std::chrono::system_clock::now() + 20ms));
    });
}

TEST_F(SharedLockable, TakesTimesOfAnyKind) {
    const auto locks = [&](bool locked) {
        EXPECT_TRUE(locked);
        both.unlock_shared();
    };
    locks(both.try_lock_shared());
    locks(both.try_lock_shared_for(0ms));
    locks(both.try_lock_shared_for(-1h));
    locks(both.try_lock_shared_for(std::chrono::duration<double>{0.5}));
    locks(both.try_lock_shared_for(std::chrono::hours::max()));
    locks(both.try_lock_shared_until(clock::time_point::min()));
    locks(both.try_lock_shared_until(clock::time_point::max()));
    locks(both.try_lock_shared_until(std::chrono::system_clock::now() + 1s));
    std::shared_lock reading{both, 1s};
    EXPECT_TRUE(reading.owns_lock());
    reading.unlock();
    EXPECT_TRUE(reading.try_lock_until(clock::now() + 1s));
}

TEST_F(SharedLockable, RequiresOfEachThreadItsOwnLease) {
    EXPECT_THROW(both.require(), lease_lost);
    EXPECT_FALSE(both.lost().stop_possible());
    const std::shared_lock reading{both};
    const auto mine = token_of_the_first();
    const auto lost = both.lost();
    EXPECT_NO_THROW(both.require());
    EXPECT_TRUE(lost.stop_possible());
    elsewhere([&] {
        EXPECT_THROW(both.require(), lease_lost);  // this one holds nothing
        EXPECT_FALSE(both.lost().stop_possible());
        const std::shared_lock beside{both};
        EXPECT_NO_THROW(both.require());
        EXPECT_NE(both.lost(), lost);
    });
    EXPECT_EQ(token_of_the_first(), mine);
    EXPECT_NO_THROW(both.require());
}

TEST_F(SharedLockable, ThatLostItsLeaseSaysSo) {
    lockable<shared_mutex> brief{lock_for(80ms)};
    const std::shared_lock reading{brief};
    const auto lost = brief.lost();
    EXPECT_TRUE(eventually(2s, [&] { return lost.stop_requested(); }));
    EXPECT_THROW(brief.require(), lease_lost);
    EXPECT_TRUE(reading.owns_lock());  // the standard's guard cannot know
}

TEST_F(SharedLockable, IsUnlockedByTheThreadThatLocked) {
    both.lock_shared();
    elsewhere([&] { both.unlock_shared(); });
    EXPECT_EQ(holders(), 1);
    EXPECT_FALSE(both.last_release());
    both.unlock_shared();
    EXPECT_EQ(holders(), 0);
    both.unlock_shared();  // not locked: nothing
    EXPECT_EQ(both.last_release(), release_result::released);
    both.lock_shared();
    raw.del(main_key);
    both.unlock_shared();
    EXPECT_EQ(both.last_release(), release_result::expired);
}

TEST_F(SharedLockable, EndsWhatWasLeftLocked) {
    {
        lockable<shared_mutex> left{lock};
        std::shared_lock{left}.release();
        EXPECT_EQ(holders(), 1);
    }
    EXPECT_EQ(holders(), 0);
}

// Threads that come and go without a gap keep a writer of this process out no longer than those of others do.
TEST_F(SharedLockable, LetsAWriterInBetweenOverlappingReaders) {
    std::atomic<bool> stop{false};
    std::atomic<int> read{0};
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.emplace_back([&] {
            while (!stop) {
                const std::shared_lock reading{both};
                ++read;
                std::this_thread::sleep_for(2ms);
            }
        });
    ASSERT_TRUE(eventually(patience, [&] { return read > 20; }));
    EXPECT_TRUE(both.try_lock_for(5s));
    both.unlock();
    stop = true;
}

}  // namespace
}  // namespace tranca::shared_mutex_test
