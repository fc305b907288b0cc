// Who waits is woken; a writer that waits keeps new readers out, and one that gave up does not. Cases W01, W03, W06, W08, W11.
#include <memory>
#include <random>

#include "shared_mutex/shared_fixture.hpp"
#include "support/child_process.hpp"
#include "support/monitor_reader.hpp"
#include "support/seed.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::shared_mutex_test {
namespace {

class WaitingWriter : public shared_fixture {};

TEST_F(WaitingWriter, KeepsNewReadersOutAndGoesFirst) {
    auto held = readers.acquire();
    waiter writer{server.url(), waiter::writer()};
    ASSERT_TRUE(asleep(1));
    EXPECT_FALSE(readers.try_acquire());
    waiter reader{server.url(), waiter::reader()};
    ASSERT_TRUE(asleep(2));
    held.release();
    EXPECT_TRUE(writer.granted_within(400ms));
    EXPECT_FALSE(reader.done());
    writer.end();
    EXPECT_TRUE(reader.granted_within(400ms));
    EXPECT_TRUE(readers.try_acquire());  // nothing is left of the writer's claim
}

TEST_F(WaitingWriter, ThatGivesUpLetsTheReadersInAtOnce) {
    const auto held = readers.acquire();
    int slow = 0;
    for (int round = 0; round < 10; ++round) {
        waiter writer{server.url(), waiter::writer()};
        ASSERT_TRUE(asleep(1));
        waiter first{server.url(), waiter::reader()};
        waiter second{server.url(), waiter::reader()};
        ASSERT_TRUE(asleep(3));
        writer.stop();
        ASSERT_TRUE(eventually(patience, [&] { return writer.done(); }));
        const stopwatch since_then;
        EXPECT_TRUE(first.granted_within(patience));
        EXPECT_TRUE(second.granted_within(patience));
        slow += since_then.elapsed() > 150ms ? 1 : 0;
    }
    EXPECT_LE(slow, 3);  // a slice is half a second at least
    EXPECT_FALSE(lock.try_acquire_for(30ms));
    EXPECT_TRUE(readers.try_acquire());
}

TEST_F(WaitingWriter, ThatGivesUpLeavesWhatTheOthersSaid) {
    auto held = readers.acquire();
    for (const bool first_leaves : {true, false}) {
        waiter first{server.url(), waiter::writer()};
        ASSERT_TRUE(asleep(1));
        waiter second{server.url(), waiter::writer()};
        ASSERT_TRUE(asleep(2));
        (first_leaves ? first : second).end();
        EXPECT_FALSE(readers.try_acquire());
        held.release();
        EXPECT_TRUE((first_leaves ? second : first).granted_within(400ms));
        (first_leaves ? second : first).end();
        held = readers.acquire();
    }
    EXPECT_TRUE(readers.try_acquire());
}

TEST_F(WaitingWriter, ThatDiedKeepsReadersOutForTwoSeconds) {
    const auto held = readers.acquire();
    testing::child_process dead{[&] {
        const client own{server.url()};
        static_cast<void>(shared_mutex{own, "thing"}.acquire());
    }};
    ASSERT_TRUE(asleep(1));
    EXPECT_FALSE(readers.try_acquire());
    dead.kill_hard();
    const stopwatch since_then;
    EXPECT_TRUE(readers.try_acquire_for(patience));
    EXPECT_LT(since_then.elapsed(), 3s);
}

TEST_F(WaitingWriter, ThatWasGrantedAndDiedKeepsReadersOutForItsTtlOnly) {
    auto held = readers.acquire();
    std::optional<guard> granted;
    std::jthread writer{[&] { granted = lock_for(300ms).try_acquire_for(patience); }};
    ASSERT_TRUE(asleep(1));
    held.release();
    writer.join();
    ASSERT_TRUE(granted);
    granted->abandon();
    const stopwatch since_then;
    EXPECT_TRUE(readers.try_acquire_for(patience));
    EXPECT_LT(since_then.elapsed(), 1s);
}

// W08: there is a reader at any moment, and still the writer's turn comes.
TEST_F(WaitingWriter, IsNotStarvedByReaders) {
    std::atomic<bool> stop{false};
    std::atomic<int> read{0};
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 8; ++i)
        crowd.emplace_back([&] {
            while (!stop) {
                const auto held = readers.try_acquire_for(100ms);
                if (!held) continue;
                ++read;
                std::this_thread::sleep_for(2ms);
            }
        });
    ASSERT_TRUE(eventually(patience, [&] { return read > 50; }));
    for (int i = 0; i < 10; ++i) {
        const stopwatch since_then;
        EXPECT_TRUE(lock.try_acquire_for(patience));
        EXPECT_LT(since_then.elapsed(), 1s);
    }
    const int before = read;
    EXPECT_TRUE(eventually(patience, [&] { return read > before + 50; }));  // and they go on
    stop = true;
}

class WaitingReaders : public shared_fixture {};

TEST_F(WaitingReaders, AreAllWokenByOneRelease) {
    constexpr int crowd = 40;
    auto held = lock.acquire();
    std::atomic<int> inside{0};
    std::atomic<bool> stop{false};
    std::vector<std::jthread> all;
    for (int i = 0; i < crowd; ++i)
        all.emplace_back([&] {
            const auto mine = readers.acquire();
            ++inside;
            while (!stop)
                std::this_thread::sleep_for(1ms);
        });
    ASSERT_TRUE(asleep(crowd));
    held.release();
    EXPECT_TRUE(eventually(450ms, [&] { return inside == crowd; })) << inside;  // a slice is half a second at least
    EXPECT_EQ(holders(), crowd);
    stop = true;
}

// W01: released while the waiter is about to go to sleep.
TEST_F(WaitingReaders, AndWritersAreNotMissedByAReleaseBeforeTheySleep) {
    for (const bool as_reader : {true, false}) {
        auto held = lock.acquire();
        testing::tcp_gate gate{server.tcp()};
        gate.hold("BLPOP");
        waiter next{gate.url(), [as_reader](const shared_mutex& of, const std::stop_token& stop) {
                        return as_reader ? of.shared().try_acquire_for(60s, stop) : of.try_acquire_for(60s, stop);
                    }};
        ASSERT_TRUE(gate.wait_until_held(5s));
        EXPECT_EQ(held.release(), release_result::released);
        gate.let_go();
        EXPECT_TRUE(next.granted_within(400ms));
    }
}

class SharedWaiting : public shared_fixture {};

// No newcomers that would heal a lost wake-up: a few who wait, and a holder that leaves at any moment.
TEST_F(SharedWaiting, IsNeverForgottenInSparsePhases) {
    std::mt19937_64 random{testing::seed("sparse phases")};
    int slow = 0;
    for (int round = 0; round < 60; ++round) {
        std::atomic<int> done{0};
        std::vector<std::jthread> waiters;
        auto held = random() % 2 == 0 ? lock.acquire() : readers.acquire();
        for (int i = 0; i < 5; ++i)
            waiters.emplace_back([&, as_reader = random() % 2 == 0] {
                const auto mine = as_reader ? readers.acquire() : lock.acquire();
                ++done;
            });
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 4'000});  // any moment will do
        held.release();
        const stopwatch since_the_release;
        EXPECT_TRUE(eventually(patience, [&] { return done == 5; }));
        slow += since_the_release.elapsed() > 300ms ? 1 : 0;
    }
    EXPECT_LE(slow, 2);  // the machine's own
    EXPECT_EQ(raw.exists(main_key), 0);
}

// W03: stopped around the moment of a release; whoever else waits is served, of whichever kind.
TEST_F(SharedWaiting, IsHandedOnByThoseThatGiveUp) {
    std::mt19937_64 random{testing::seed("giving up")};
    int slow = 0;
    for (int round = 0; round < 40; ++round) {
        auto held = lock.acquire();
        waiter hasty{server.unix_url(), waiter::writer()};
        ASSERT_TRUE(asleep(1));
        const bool as_reader = round % 2 == 0;
        waiter patient{server.unix_url(), [as_reader](const shared_mutex& of, const std::stop_token& stop) {
                           return as_reader ? of.shared().try_acquire_for(60s, stop) : of.try_acquire_for(60s, stop);
                       }};
        ASSERT_TRUE(asleep(2));
        std::jthread stopper{[&, pause = random() % 300] {
            std::this_thread::sleep_for(std::chrono::microseconds{pause});  // around the release
            hasty.stop();
        }};
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 300});
        held.release();
        const stopwatch since_the_release;
        EXPECT_TRUE(patient.granted_within(patience));
        slow += since_the_release.elapsed() > 300ms ? 1 : 0;
    }
    EXPECT_LE(slow, 2);
}

// W06.
TEST_F(SharedWaiting, IsNoPolling) {
    const auto held = lock_for(60s).acquire();
    for (const bool as_reader : {true, false}) {
        const client own{server.url()};
        const shared_mutex other{own, "thing", lasting(60s)};
        EXPECT_FALSE(other.try_acquire());  // the scripts are known
        testing::monitor_reader monitor{server};
        const auto mark = monitor.mark();
        if (as_reader) EXPECT_FALSE(other.shared().try_acquire_for(2s));
        else EXPECT_FALSE(other.try_acquire_for(2s));
        EXPECT_LE(names(monitor.commands_since(mark)).size(), 14u);  // with a connection's introduction
    }
}

// W11.
TEST_F(SharedWaiting, IsNotEndedByTheTimeLimitOfACommand) {
    const auto held = lock_for(60s).acquire();
    const client own{server.url() + "?command_timeout=400ms"};  // a slice is half a second at least
    const shared_mutex other{own, "thing", lasting(30s)};
    const stopwatch since_start;
    EXPECT_FALSE(other.shared().try_acquire_for(700ms));
    EXPECT_FALSE(other.try_acquire_for(700ms));
    EXPECT_GE(since_start.elapsed(), 1400ms);
    EXPECT_LT(since_start.elapsed(), 2500ms);
}

TEST_F(SharedWaiting, KeepsItsDeadlines) {
    const auto writer = lock.acquire();
    for (const auto wait : {1ms, 20ms, 120ms, 1100ms}) {
        const stopwatch since_start;
        EXPECT_FALSE(readers.try_acquire_for(wait));
        EXPECT_GE(since_start.elapsed(), wait);
        EXPECT_LT(since_start.elapsed(), wait + 300ms);
    }
}

}  // namespace
}  // namespace tranca::shared_mutex_test
