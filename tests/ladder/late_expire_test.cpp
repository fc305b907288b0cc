// Second rung: a PEXPIRE under way while the lock changes hands hits the newer owner. Third rung: there is none.
#include "ladder/schedule.hpp"

namespace tranca::ladder_test {
namespace {

using ladder::px_lock;
using ladder::timeout_lock;

class LatePexpire : public Ladder {
protected:
    static constexpr milliseconds short_ttl = 40ms;

    template <class Lock>
    [[nodiscard]] static Lock make(const client& of, milliseconds ttl) {
        return Lock{of, "thing", {.lease = {.ttl = ttl}}};
    }

    /// A waiter finds a dead lock without ttl and repairs it; while its PEXPIRE is under way, the lock goes to a newer
    /// owner for a minute. After the waiter's short ttl a third one tries. How many hold it then?
    template <class Lock>
    [[nodiscard]] int holders_after_a_late_repair() {
        raw.set("lock:thing", "of a dead one");
        gate.hold("PEXPIRE");
        attempt_in_background waiter{[&] { return make<Lock>(slow, short_ttl).try_acquire(); }};
        EXPECT_TRUE(waiter.stands_at(gate));
        raw.del("lock:thing");  // another waiter's repair has run out
        const auto newer = make<Lock>(redis, 60s).try_acquire();
        EXPECT_EQ(believers(newer), 1);
        gate.let_go();
        EXPECT_FALSE(waiter.result());
        pass_time(raw, short_ttl);
        const auto third = make<Lock>(redis, 60s).try_acquire();
        return believers(newer, third);
    }

    /// An owner has created the lock; while its own PEXPIRE is under way, the lock is repaired, expires, and goes to a
    /// newer owner for a minute. After the first one's short ttl a third one tries. How many hold it then?
    template <class Lock>
    [[nodiscard]] int holders_after_a_late_expire() {
        gate.hold("PEXPIRE");
        attempt_in_background first{[&] { return make<Lock>(slow, short_ttl).try_acquire(); }};
        EXPECT_TRUE(first.stands_at(gate));
        static_cast<void>(make<Lock>(redis, short_ttl).try_acquire());  // repairs, where there is something to repair
        EXPECT_TRUE(eventually(patience, [&] { return raw.exists("lock:thing") == 0; }));
        const auto newer = make<Lock>(redis, 60s).try_acquire();
        EXPECT_EQ(believers(newer), 1);
        gate.let_go();
        EXPECT_EQ(believers(first.result()), 0);  // its time is counted from before it began
        pass_time(raw, short_ttl);
        const auto third = make<Lock>(redis, 60s).try_acquire();
        return believers(newer, third);
    }

    tcp_gate gate{server.tcp()};
    client slow{gate.url() + "?command_timeout=60s"};
};

TEST_F(LatePexpire, OfARepairLetsTwoHoldATimeoutLock) { EXPECT_EQ(holders_after_a_late_repair<timeout_lock>(), 2); }
TEST_F(LatePexpire, OfARepairDoesNotExistForPxLock) { EXPECT_EQ(holders_after_a_late_repair<px_lock>(), 1); }

TEST_F(LatePexpire, OfAnOwnerLetsTwoHoldATimeoutLock) { EXPECT_EQ(holders_after_a_late_expire<timeout_lock>(), 2); }
TEST_F(LatePexpire, OfAnOwnerDoesNotExistForPxLock) { EXPECT_EQ(holders_after_a_late_expire<px_lock>(), 1); }

// With one ttl for all the same late commands only prolong a lock: nobody loses what he believes to have.
TEST_F(LatePexpire, WithEqualTtlsLetsNobodyInBesideTheHolder) {
    raw.set("lock:thing", "of a dead one");
    gate.hold("PEXPIRE");
    attempt_in_background waiter{[&] { return make<timeout_lock>(slow, 60s).try_acquire(); }};
    EXPECT_TRUE(waiter.stands_at(gate));
    raw.del("lock:thing");
    const auto newer = make<timeout_lock>(redis, 60s).try_acquire();
    gate.let_go();
    EXPECT_FALSE(waiter.result());
    EXPECT_GT(raw.pttl("lock:thing"), 50'000);
    EXPECT_FALSE(make<timeout_lock>(redis, 60s).try_acquire());
    EXPECT_EQ(believers(newer), 1);
}

}  // namespace
}  // namespace tranca::ladder_test
