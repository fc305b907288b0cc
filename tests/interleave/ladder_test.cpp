// The ladder: a search finds the flaw that each rung's header states, and none where the next rung says that it is cured.
#include <tranca/tranca.hpp>

#include "interleave/interleave_fixture.hpp"

namespace tranca::interleave {
namespace {

using namespace tranca::ladder;
using InterleavedLadder = Interleaved;

lock_options for_a_minute() { return {.lease = {.ttl = long_ttl}}; }

void try_naive_lock(part& me) { hold_if_free(me, naive_lock{me.redis(), "thing"}, claim::mode::exclusive); }

void try_timeout_lock(part& me) {
    hold_if_free(me, timeout_lock{me.redis(), "thing", for_a_minute()}, claim::mode::exclusive);
}

void try_px_lock(part& me) { hold_if_free(me, px_lock{me.redis(), "thing", for_a_minute()}, claim::mode::exclusive); }

// All look at one clock, which goes on with each look.
wall_clock clock_of(part& me) {
    return [&me] { return me.wall_time(); };
}

void try_clock_semaphore(part& me) {
    hold_if_free(me, clock_semaphore{me.redis(), "thing", 1, {.lease = {.ttl = 1h}, .now = clock_of(me)}},
                 claim::mode::counted);
}

void try_fair_semaphore(part& me) {
    hold_if_free(me, fair_semaphore{me.redis(), "thing", 1, {.lease = {.ttl = 1h}, .now = clock_of(me)}},
                 claim::mode::counted);
}

// An attempt tries the entrance once, too.
void try_guarded_semaphore(part& me) {
    hold_if_free(
        me,
        guarded_semaphore{me.redis(),
                          "thing",
                          1,
                          {.lease = {.ttl = 1h}, .now = clock_of(me), .helper_ttl = long_ttl, .helper_wait = 0ms}},
        claim::mode::counted);
}

scenario lock_scenario(std::string name, std::vector<body> clients, fault_budget faults = {}) {
    return {.name = std::move(name),
            .clients = std::move(clients),
            .alike = true,
            .faults = faults,
            .held = {.locks = {"lock:thing"}},
            .is_free = no_key("lock:thing")};
}

// Its holders do not lose their places in time: it is the lock on the entrance that can.
scenario semaphore_scenario(std::string name, std::vector<body> clients, fault_budget faults = {}) {
    return {.name = std::move(name),
            .clients = std::move(clients),
            .alike = true,
            .faults = faults,
            .held = {.locks = {"lock:thing"}},
            .may_stay = {"thing", "thing:owner", "thing:counter"},
            .is_free = no_key("thing")};
}

TEST_F(InterleavedLadder, NaiveLockOfACrashedHolderStaysForEver) {
    expect_no_flaw(lock_scenario("naive_lock, nobody crashes", times(3, try_naive_lock)));
    expect_flaw(lock_scenario("naive_lock, a crash", times(2, try_naive_lock), {.crashes = 1}),
                "lock:thing has no ttl");
}

TEST_F(InterleavedLadder, TimeoutLockOfACrashBeforeItsExpireStaysForEver) {
    expect_flaw(lock_scenario("timeout_lock, a crash", times(1, try_timeout_lock), {.crashes = 1}),
                "lock:thing has no ttl");
}

// A waiter repairs a lock whose owner has not yet set its ttl - with the waiter's own, which is shorter. It runs out, and the
// owner's late EXPIRE hits the lock of the next one, while its own 60 seconds are not over.
TEST_F(InterleavedLadder, TimeoutLockIsHeldByTwoAfterALateExpire) {
    const auto try_for = [](std::chrono::milliseconds ttl) {
        return [ttl](part& me) {
            hold_if_free(me, timeout_lock{me.redis(), "thing", {.lease = {.ttl = ttl}}}, claim::mode::exclusive);
        };
    };
    auto what = lock_scenario("timeout_lock, two ttls", {try_for(60s), try_for(10s), try_for(10s)}, {.expiries = 1});
    what.alike = false;
    what.only_exclusion = true;
    what.span = 10s;
    what.ttls = {60s, 10s, 10s};
    expect_flaw(what, "two hold it");
}

TEST_F(InterleavedLadder, PxLockIsHeldByOneIfItsHolderAsksItsGuard) {
    expect_no_flaw(lock_scenario("px_lock", times(2, try_px_lock)));
    expect_no_flaw(lock_scenario("px_lock", times(3, try_px_lock)));
    expect_no_flaw(lock_scenario("px_lock, one fault", times(2, try_px_lock), one_fault));
    expect_no_flaw(lock_scenario("px_lock, one fault", times(3, try_px_lock), one_fault));
    expect_no_flaw(lock_scenario("px_lock, two faults", times(2, try_px_lock), any_faults(2)));
}

TEST_F(InterleavedLadder, PxLockIsHeldByTwoIfAHolderOutlivesItsLeaseUnawares) {
    auto what = lock_scenario("px_lock, a holder that does not ask its guard", times(2, try_px_lock), {.expiries = 1});
    what.believes_after_its_end = true;
    expect_flaw(what, "two hold it");
}

TEST_F(InterleavedLadder, ClockSemaphoreLetsInWhoeverReadItsClockEarlier) {
    auto what = semaphore_scenario("clock_semaphore, one clock", times(2, try_clock_semaphore));
    what.alike = false;  // A reads the clock before B does
    expect_flaw(what, "2 hold it, and the limit is 1");
}

TEST_F(InterleavedLadder, FairSemaphoreLetsTwoInBetweenNumberAndRank) {
    expect_flaw(semaphore_scenario("fair_semaphore", times(2, try_fair_semaphore)), "2 hold it, and the limit is 1");
}

TEST_F(InterleavedLadder, GuardedSemaphoreKeepsItsLimit) {
    expect_no_flaw(semaphore_scenario("guarded_semaphore", times(2, try_guarded_semaphore)));
    expect_no_flaw(semaphore_scenario("guarded_semaphore", times(3, try_guarded_semaphore)));
    const fault_budget but_for_pauses{.crashes = 1, .lost_replies = 1, .script_flushes = 1};
    expect_no_flaw(semaphore_scenario("guarded_semaphore, one fault", times(2, try_guarded_semaphore), but_for_pauses));
}

TEST_F(InterleavedLadder, GuardedSemaphoreOverrunsItsLimitAfterAPauseInItsEntrance) {
    expect_flaw(semaphore_scenario("guarded_semaphore, a pause", times(2, try_guarded_semaphore), {.expiries = 1}),
                "2 hold it, and the limit is 1");
}

}  // namespace
}  // namespace tranca::interleave
