// A lease is renewed while its guard lives, whatever goes wrong once: cases C03, C07, C08, C14, N01.
#include <thread>
#include <vector>

#include "mutex/loss_watch.hpp"
#include "mutex/mutex_fixture.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/process_usage.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

using testing::monitor_reader;
using testing::monitored_command;
using testing::tcp_gate;

class Renewal : public mutex_fixture {
protected:
    /// The times at which the server set the lock's ttl anew.
    [[nodiscard]] static std::vector<std::chrono::microseconds> renewals(const std::vector<monitored_command>& seen) {
        std::vector<std::chrono::microseconds> times;
        for (const auto& command : seen)
            if (command.name() == (command.lua() ? "PEXPIRE" : "SET") && command.arguments.at(1) == lock_key)
                times.push_back(command.time);
        return times;
    }

    /// Counted from `start`, before the lease began: from one renewal to the next it may be less, where one came late.
    static void expect_none_before_its_time(const std::vector<std::chrono::microseconds>& times,
                                            std::chrono::system_clock::duration start, milliseconds pause) {
        for (std::size_t i = 0; i < times.size(); ++i)
            EXPECT_GE(times[i] - start, static_cast<int>(i) * (pause - 1ms)) << i;
    }

    /// Until the lease was renewed once more, so that the next time is a whole period away.
    void wait_for_a_renewal() {
        const auto before = told->count(event::kind::renewed);
        ASSERT_TRUE(eventually(5s, [&] { return told->count(event::kind::renewed) > before; }));
    }
};

TEST_F(Renewal, ComesEveryThirdOfTheTtlAndSetsIt) {
    monitor_reader monitor{server};
    const auto start = std::chrono::system_clock::now().time_since_epoch();
    const auto held = lock_with(lasting(1200ms)).acquire();
    // C03: set, never added.
    EXPECT_TRUE(throughout(2s, [&] {
        const auto left = raw.pttl(lock_key);
        return left > 0 && left <= 1200;
    }));
    const auto times = renewals(monitor.commands());
    ASSERT_GE(times.size(), 4u);
    EXPECT_LE(times.size(), 8u);
    expect_none_before_its_time(times, start, 400ms);
    EXPECT_TRUE(held);
}

TEST_F(Renewal, KeepsThePeriodItIsTold) {
    monitor_reader monitor{server};
    const auto start = std::chrono::system_clock::now().time_since_epoch();
    const auto held = lock_with(lasting(10s, 50ms)).acquire();
    EXPECT_TRUE(eventually(5s, [&] { return told->count(event::kind::renewed) >= 5; }));
    const auto times = renewals(monitor.commands());
    ASSERT_GE(times.size(), 5u);
    expect_none_before_its_time(times, start, 50ms);
    EXPECT_TRUE(held);
}

TEST_F(Renewal, CanBeTurnedOff) {
    monitor_reader monitor{server};
    const auto held = lock_with(lasting(300ms, 0ms)).acquire();
    EXPECT_TRUE(eventually(2s, [&] { return !exists(); }));
    EXPECT_THAT(renewals(monitor.commands()), ::testing::IsEmpty());
    EXPECT_FALSE(held);
}

// C07: a worker that hangs, or a guard that is leaked, holds for max_hold + ttl at most.
TEST_F(Renewal, StopsAtMaxHold) {
    auto options = lasting(900ms);
    options.lease.max_hold = 1200ms;
    const stopwatch since_start;
    const auto held = lock_with(options).acquire();
    const loss_watch loss{held};
    ASSERT_TRUE(loss.told_within(10s));
    EXPECT_GE(since_start.elapsed(), 1200ms);
    EXPECT_TRUE(another()->lock.try_acquire_for(5s));
    EXPECT_LT(since_start.elapsed(), 1200ms + 900ms + 900ms);
}

// Also where the one that was due before that had to be repeated.
TEST_F(Renewal, IsNotRepeatedAfterMaxHold) {
    tcp_gate gate{server.tcp()};
    const client through{gate.url(), told_to(told)};
    auto options = lasting(1500ms, 300ms);
    options.lease.max_hold = 400ms;
    const auto held = mutex{through, "thing", options}.acquire();
    const auto end = expires_at();
    gate.hold(extension());
    ASSERT_TRUE(gate.wait_until_held(5s));
    EXPECT_TRUE(throughout(200ms, [&] { return !!held; }));
    gate.cut_held();
    const loss_watch loss{held};
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(loss.wall_time(), end);
}

TEST_F(Renewal, NeverMakesAKey) {
    const auto held = lock_with(lasting(300ms)).acquire();
    raw.del(lock_key);
    EXPECT_TRUE(throughout(800ms, [&] { return !exists(); }));
}

// C08: one answer that never comes is not the end of a lease that has time for another try.
TEST_F(Renewal, SurvivesAnAnswerThatNeverComes) {
    tcp_gate gate{server.tcp()};
    const client through{gate.url(), told_to(told)};
    const auto held = mutex{through, "thing", lasting(2s)}.acquire();
    const loss_watch loss{held};
    gate.swallow_reply(extension(), testing::ending::keep_open);
    ASSERT_TRUE(gate.wait_until_swallowed(5s));
    EXPECT_TRUE(throughout(1800ms, [&] { return exists() && !loss.told(); }));
    EXPECT_TRUE(held);
}

TEST_F(Renewal, SurvivesALinkThatIsDownForAWhile) {
    tcp_gate gate{server.tcp()};
    const client through{gate.url(), told_to(told)};
    auto lock = mutex{through, "thing", lasting(900ms)};
    for (int round = 0; round < 2; ++round) {  // C08: a later lock of the same name too
        auto held = lock.acquire();
        wait_for_a_renewal();
        gate.cut();
        gate.refuse_connections();
        EXPECT_TRUE(throughout(350ms, [&] { return exists(); }));
        gate.accept_connections();
        EXPECT_TRUE(throughout(500ms, [&] { return exists() && !!held; }));
        EXPECT_EQ(held.release(), release_result::released);
    }
    EXPECT_EQ(told->count(event::kind::lease_lost), 0u);
}

// A renewal that was due while the holder asked by itself comes when that has failed.
TEST_F(Renewal, GoesOnAfterAnExtensionThatFailed) {
    tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=300ms", told_to(told)};
    auto held = mutex{through, "thing", lasting(900ms)}.acquire();
    const loss_watch loss{held};
    wait_for_a_renewal();
    wait_for_a_renewal();
    EXPECT_TRUE(throughout(100ms, [&] { return !!held; }));
    gate.swallow_reply(extension(), testing::ending::keep_open);
    const auto failure = thrown_by([&] { held.extend(); });  // 100 ms to 400 ms after a renewal; the next one at 300 ms
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_TRUE(throughout(1100ms, [&] { return exists() && !loss.told(); }));
    EXPECT_TRUE(held);
}

TEST_F(Renewal, SurvivesForgottenScripts) {
    const auto held = lock_with(lasting(900ms)).acquire();
    for (int times = 0; times < 4; ++times) {
        testing::flush_scripts(server);
        wait_for_a_renewal();
        EXPECT_TRUE(held);
    }
}

// N09, N03, N06 and their like: a state that passes by itself costs nothing but another try.
TEST_F(Renewal, SurvivesAStateOfTheServerThatPasses) {
    const auto held = lock_with(lasting(900ms)).acquire();
    for (const auto& make : {testing::no_replicas, testing::demoted}) {
        wait_for_a_renewal();
        auto state = make(server);
        EXPECT_TRUE(throughout(400ms, [&] { return !!held; }));
        state.end();
        wait_for_a_renewal();
    }
    EXPECT_TRUE(held);
}

TEST_F(Renewal, SucceedsWhenMemoryIsFull) {
    const auto held = lock_with(lasting(900ms)).acquire();
    const auto full = testing::out_of_memory(server);
    wait_for_a_renewal();
    wait_for_a_renewal();
    EXPECT_TRUE(held);
}

// Those due together are renewed together; who is told of one may use the others.
TEST_F(Renewal, IsToldWithNoOtherLeaseLocked) {
    struct extending : event_sink {
        void on(const event& happening) noexcept override {
            const bool is_alone =
                happening.key.ends_with(" 0");  // that of the first one, during which the others fell due
            if (happening.what != event::kind::renewed || is_alone || !armed.exchange(false)) return;
            for (auto& each : all)
                static_cast<void>(each.extend());
            done = true;
        }
        std::vector<guard> all;
        std::atomic<bool> armed{false};
        std::atomic<bool> done{false};
    };
    const auto sink = std::make_shared<extending>();
    client_options options;
    options.sink = sink;
    tcp_gate gate{server.tcp()};
    const client own{gate.url(), options};
    gate.hold(extension());
    for (int i = 0; i < 10; ++i)
        sink->all.push_back(mutex{own, "of many " + std::to_string(i), lasting(2s, 200ms)}.acquire());
    sink->armed = true;
    ASSERT_TRUE(gate.wait_until_held(5s));
    EXPECT_TRUE(throughout(250ms, [&] { return !sink->done; }));  // until the others are due
    gate.let_go();
    EXPECT_TRUE(eventually(5s, [&] { return sink->done.load(); }));
    sink->all.clear();
}

// C14.
TEST_F(Renewal, OfManyLocksTakesNoMoreThreadsThanOfOne) {
    const auto first = lock_with(lasting(900ms)).acquire();
    wait_for_a_renewal();
    const auto threads = testing::threads();
    const auto descriptors = testing::open_descriptors();
    std::vector<guard> all;
    for (int i = 0; i < 500; ++i)
        all.push_back(mutex{redis, "of many " + std::to_string(i), lasting(900ms)}.acquire());
    const auto before = told->count(event::kind::renewed);
    EXPECT_TRUE(eventually(5s, [&] { return told->count(event::kind::renewed) >= before + 2 * all.size(); }));
    EXPECT_EQ(testing::threads(), threads);
    EXPECT_LE(testing::open_descriptors(), descriptors + 1);
    EXPECT_TRUE(std::ranges::all_of(all, [](const guard& each) { return static_cast<bool>(each); }));
    EXPECT_EQ(told->count(event::kind::lease_lost), 0u);
}

}  // namespace
}  // namespace tranca::mutex_test
