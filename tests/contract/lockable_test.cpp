// A primitive in the standard's own guards.
#include <atomic>
#include <mutex>
#include <thread>

#include "contract/contract.hpp"
#include "support/faults.hpp"

namespace tranca::contract {
namespace {

using any_lockable = lockable<any_primitive>;

static_assert(!std::is_copy_constructible_v<any_lockable>);
static_assert(noexcept(std::declval<any_lockable&>().unlock()));

class Lockable : public contract {
protected:
    any_lockable lock{make()};
};

TEST_P(Lockable, IsHeldByAScopedLock) {
    {
        const std::scoped_lock held{lock};
        EXPECT_EQ(holders(), 1);
        EXPECT_NO_THROW(lock.require());
        EXPECT_FALSE(rival().try_acquire());
    }
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_EQ(lock.last_release(), release_result::released);
}

TEST_P(Lockable, IsHeldByAUniqueLock) {
    std::unique_lock held{lock, std::try_to_lock};
    EXPECT_TRUE(held.owns_lock());
    held.unlock();
    EXPECT_EQ(holders(), 0);
    held.lock();
    EXPECT_EQ(holders(), 1);
    std::unique_lock moved{std::move(held)};
    EXPECT_TRUE(moved.owns_lock());
    moved.unlock();
    EXPECT_TRUE(moved.try_lock_for(10ms));
    moved.unlock();
    EXPECT_TRUE(moved.try_lock_until(clock::now() + 10ms));
}

TEST_P(Lockable, IsBusyWhenAnotherHolds) {
    occupy();
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_for(10ms));
    EXPECT_FALSE(lock.try_lock_until(clock::now() + 10ms));
    EXPECT_FALSE(lock.try_lock_until(std::chrono::system_clock::now() + 10ms));
    EXPECT_TRUE(is_foreign());
    EXPECT_FALSE(lock.last_release());
}

TEST_P(Lockable, TakesTimesOfAnyKind) {
    const auto locks = [&](bool locked) {
        EXPECT_TRUE(locked);
        lock.unlock();
    };
    locks(lock.try_lock_for(std::chrono::duration<double>{0.5}));
    locks(lock.try_lock_for(500us));
    locks(lock.try_lock_for(std::chrono::hours::max()));
    locks(lock.try_lock_until(std::chrono::system_clock::time_point::max()));
    locks(lock.try_lock_until(clock::time_point::max()));
    locks(lock.try_lock_until(std::chrono::time_point_cast<std::chrono::seconds>(clock::now()) + 5s));
    locks(lock.try_lock_until(clock::now() + std::chrono::duration<double>{0.5}));
}

TEST_P(Lockable, MakesOneAttemptWhenThereIsNoTime) {
    const auto locks = [&](bool locked) {
        EXPECT_TRUE(locked);
        lock.unlock();
    };
    locks(lock.try_lock());
    locks(lock.try_lock_for(0ms));
    locks(lock.try_lock_for(-1h));
    locks(lock.try_lock_for(std::chrono::hours::min()));
    locks(lock.try_lock_for(std::chrono::nanoseconds::min()));
    locks(lock.try_lock_until(clock::time_point::min()));
    locks(lock.try_lock_until(std::chrono::system_clock::time_point::min()));
    locks(lock.try_lock_until(std::chrono::system_clock::time_point{}));
}

TEST_P(Lockable, TellsOfEveryReleaseResult) {
    const auto result_after = [&](auto&& meanwhile) {
        lock.lock();
        meanwhile();
        lock.unlock();
        return lock.last_release();
    };
    EXPECT_EQ(result_after([] {}), release_result::released);
    EXPECT_EQ(result_after([&] { raw.flush(); }), release_result::expired);
    EXPECT_EQ(result_after([&] { occupy(); }), of.tells_taken ? release_result::taken : release_result::expired);
    EXPECT_TRUE(is_foreign());
}

TEST_P(Lockable, RequiresWhatIsHeld) {
    EXPECT_THROW(lock.require(), lease_lost);
    EXPECT_FALSE(lock.lost().stop_possible());
    lock.lock();
    EXPECT_NO_THROW(lock.require());
    EXPECT_FALSE(lock.lost().stop_requested());
    lock.unlock();
    EXPECT_THROW(lock.require(), lease_lost);
    lock.unlock();  // not locked: nothing
    EXPECT_EQ(lock.last_release(), release_result::released);
}

TEST_P(Lockable, EndsWhatAUniqueLockLeftLocked) {
    {
        any_lockable left{make({.name = "other"})};
        std::unique_lock{left}.release();
        EXPECT_EQ(of.holders(raw, "other"), 1);
    }
    EXPECT_EQ(of.holders(raw, "other"), 0);
}

TEST_P(Lockable, IsTakenTogetherWithAnother) {
    any_lockable other{make({.name = "other"})};
    {
        const std::scoped_lock both{lock, other};
        EXPECT_EQ(holders(), 1);
        EXPECT_EQ(of.holders(raw, "other"), 1);
    }
    EXPECT_EQ(holders(), 0);
    EXPECT_EQ(of.holders(raw, "other"), 0);
}

TEST_P(Lockable, TakenTogetherGivesTheFirstBackWhenTheSecondIsBusy) {
    any_lockable other{make({.name = "other"})};
    of.occupy(raw, "other");
    EXPECT_EQ(std::try_lock(lock, other), 1);
    EXPECT_EQ(holders(), 0);
}

TEST_P(Lockable, ThatCannotAskThrowsAndStaysUsable) {
    const client hasty = another_client("?command_timeout=50ms&connect_timeout=50ms");
    any_lockable unlucky{make_on(hasty)};
    {
        const auto gone = testing::unreachable(server);
        EXPECT_THROW(unlucky.lock(), error);
        EXPECT_THROW(static_cast<void>(unlucky.try_lock()), error);
    }
    // Its short time may not do at once: the server has only just started.
    EXPECT_TRUE(eventually(5s, [&] {
        bool locked = false;
        static_cast<void>(thrown_by([&] { locked = unlucky.try_lock(); }));
        return locked;
    }));
    unlucky.unlock();
}

OVER_EVERY_MODEL(Lockable);

class LockableInTime : public contract {};

TEST_P(LockableInTime, RequiresTheLeaseToLast) {
    any_lockable lock{make({.ttl = 80ms})};
    const std::unique_lock held{lock};
    const auto lost = lock.lost();
    EXPECT_TRUE(eventually(2s, [&] { return lost.stop_requested(); }));
    EXPECT_THROW(lock.require(), lease_lost);
    EXPECT_TRUE(held.owns_lock());  // the standard's guard cannot know
}

OVER_MODELS_WHERE(has_ttl, LockableInTime);

}  // namespace
}  // namespace tranca::contract
