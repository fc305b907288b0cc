// Every primitive is what the concept says, in its own type and in the standard's guards.
#include <mutex>

#include "contract/contract.hpp"

namespace tranca::contract {
namespace {

template <class... Primitives>
constexpr bool all_acquirable = (acquirable<Primitives> && ...);

static_assert(all_acquirable<ladder::naive_lock, ladder::timeout_lock, ladder::px_lock>);
static_assert(all_acquirable<ladder::clock_semaphore, ladder::fair_semaphore, ladder::guarded_semaphore>);
static_assert(all_acquirable<mutex, semaphore, multi_mutex, shared_mutex, shared_side, quorum_mutex>);
static_assert(shareable<shared_mutex> && !shareable<shared_side> && !shareable<mutex>);
static_assert(!acquirable<guard> && !acquirable<client> && !acquirable<int> && !acquirable<std::mutex>);

/// Everything a caller may write with one of them, all const.
template <acquirable Primitive>
void is_used_in_every_way(const Primitive& primitive) {
    EXPECT_TRUE(primitive.acquire());
    EXPECT_TRUE(primitive.acquire(std::stop_token{}));
    EXPECT_TRUE(primitive.try_acquire());
    EXPECT_TRUE(primitive.try_acquire_for(1ms));
    EXPECT_TRUE(primitive.try_acquire_for(500us));
    EXPECT_TRUE(primitive.try_acquire_for(0.25s, std::stop_token{}));
    EXPECT_TRUE(primitive.try_acquire_until(clock::now() + 1s));
    const Primitive copy = primitive;
    const auto held = copy.acquire();
    EXPECT_FALSE(primitive.try_acquire());  // a copy is the same lock
    EXPECT_EQ(copy.main_key(), primitive.main_key());
}

template <acquirable Primitive>
void is_a_standard_lock(const Primitive& primitive) {
    lockable lock{primitive};
    { const std::scoped_lock held{lock}; }
    { const std::unique_lock held{lock, 1s}; }
    { const std::lock_guard held{lock}; }
    EXPECT_EQ(lock.last_release(), release_result::released);
    EXPECT_EQ(with(primitive, [] { return 1; }), 1);
}

class Concept : public testing::redis_fixture {
protected:
    client redis{server.url()};
};

TEST_F(Concept, IsKeptByEveryPrimitiveInItsOwnType) {
    is_used_in_every_way(ladder::naive_lock{redis, "thing"});
    is_used_in_every_way(ladder::timeout_lock{redis, "thing"});
    is_used_in_every_way(ladder::px_lock{redis, "thing"});
    is_used_in_every_way(ladder::clock_semaphore{redis, "thing 2", 1});
    is_used_in_every_way(ladder::fair_semaphore{redis, "thing 3", 1});
    is_used_in_every_way(ladder::guarded_semaphore{redis, "thing 4", 1});
    is_used_in_every_way(semaphore{redis, "thing 5", 1});
    is_used_in_every_way(shared_mutex{redis, "thing 6"});
    is_used_in_every_way(quorum_mutex{{redis}, "thing 7"});
}

TEST_F(Concept, MakesEveryPrimitiveAStandardLock) {
    is_a_standard_lock(ladder::naive_lock{redis, "thing"});
    is_a_standard_lock(ladder::timeout_lock{redis, "thing"});
    is_a_standard_lock(ladder::px_lock{redis, "thing"});
    is_a_standard_lock(ladder::clock_semaphore{redis, "thing 2", 1});
    is_a_standard_lock(ladder::fair_semaphore{redis, "thing 3", 1});
    is_a_standard_lock(ladder::guarded_semaphore{redis, "thing 4", 1});
    is_a_standard_lock(semaphore{redis, "thing 5", 1});
    is_a_standard_lock(shared_mutex{redis, "thing 6"});
    is_a_standard_lock(shared_mutex{redis, "thing 6"}.shared());
    is_a_standard_lock(quorum_mutex{{redis}, "thing 7"});
}

TEST_F(Concept, TellsTheMainKey) {
    EXPECT_EQ(ladder::px_lock(redis, "a").main_key(), key{"lock:a"});
    EXPECT_EQ(ladder::px_lock(redis, "a", {.prefix = ""}).main_key(), key{"a"});
    EXPECT_EQ(ladder::fair_semaphore(redis, "a", 1).main_key(), key{"a"});
}

// An automatic renewal is what the ladder does not have.
TEST_F(Concept, OfTheLadderHasNoRenewal) {
    for (const lease_options lease : {lease_options{.renew_every = 1s}, lease_options{.max_hold = 1s}}) {
        EXPECT_TRUE(fails_with(errc::invalid_argument, [&] { ladder::timeout_lock(redis, "a", {.lease = lease}); }));
        EXPECT_TRUE(fails_with(errc::invalid_argument, [&] { ladder::px_lock(redis, "a", {.lease = lease}); }));
        EXPECT_TRUE(
            fails_with(errc::invalid_argument, [&] { ladder::clock_semaphore(redis, "a", 1, {.lease = lease}); }));
        EXPECT_TRUE(
            fails_with(errc::invalid_argument, [&] { ladder::fair_semaphore(redis, "a", 1, {.lease = lease}); }));
        EXPECT_TRUE(
            fails_with(errc::invalid_argument, [&] { ladder::guarded_semaphore(redis, "a", 1, {.lease = lease}); }));
    }
    EXPECT_NO_THROW(ladder::px_lock(redis, "a", {.lease = {.renew_every = 0ms}}));
}

}  // namespace
}  // namespace tranca::contract
