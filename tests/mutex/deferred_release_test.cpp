// A release whose answer is read later: one round trip a cycle, and nothing is lost by it.
#include <thread>

#include "mutex/mutex_fixture.hpp"
#include "support/child_process.hpp"
#include "support/monitor_reader.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

class DeferredRelease : public mutex_fixture {
protected:
    [[nodiscard]] static mutex_options later(milliseconds ttl = 10s) {
        auto made = lasting(ttl);
        made.release = release_mode::deferred;
        return made;
    }

    void SetUp() override { static_cast<void>(mutex{through, "scripts"}.acquire()); }

    [[nodiscard]] bool is_free_soon() {
        return eventually(1s, [&] { return !exists(); });
    }

    testing::tcp_gate gate{server.tcp()};
    client through{gate.url(), told_to(told)};
    mutex lock{through, "thing", later()};
};

TEST_F(DeferredRelease, MakesACycleOneRoundTrip) {
    constexpr int cycles = 20;
    gate.delay_replies(20ms);
    EXPECT_TRUE(testing::once_below(cycles * 32ms, [&] {  // two trips would be 40
        const stopwatch since_start;
        for (int i = 0; i < cycles; ++i)
            EXPECT_EQ(lock.acquire().release(), release_result::released);
        EXPECT_GE(since_start.elapsed(), cycles * 20ms);
        return since_start.elapsed();
    }));
    EXPECT_TRUE(is_free_soon());
}

TEST_F(DeferredRelease, SendsTwoCommandsACycle) {
    testing::monitor_reader monitor{server};
    const auto mark = monitor.mark();
    for (int i = 0; i < 10; ++i)
        static_cast<void>(lock.acquire());
    EXPECT_TRUE(is_free_soon());
    const auto seen = names(monitor.commands_since(mark));
    EXPECT_EQ(std::ranges::count(seen, "EVALSHA"), 20);
    EXPECT_EQ(std::ranges::count_if(seen, [](const auto& name) { return name != "EVALSHA" && name != "EXISTS"; }), 0);
}

TEST_F(DeferredRelease, IsSentAtOnce) {
    auto held = lock.acquire();
    gate.forget_commands();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(is_free_soon());
    EXPECT_FALSE(held);
    EXPECT_EQ(told->count(event::kind::released), 2u);
}

TEST_F(DeferredRelease, TellsTheSinkWhatCameOfIt) {
    auto held = lock.acquire();
    raw.del(lock_key);
    EXPECT_EQ(held.release(), release_result::released);
    static_cast<void>(lock.acquire());
    EXPECT_EQ(told->count(event::kind::release_expired), 1u);
    auto again = lock.acquire();
    occupy();
    EXPECT_EQ(again.release(), release_result::released);
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_EQ(told->count(event::kind::release_taken), 1u);
    EXPECT_EQ(raw.get(lock_key), "foreign");
}

// The answer is read by whoever uses the connection next, perhaps for another lock: the sink may use that one.
TEST_F(DeferredRelease, TellsTheSinkWithNoLeaseLocked) {
    struct extending : event_sink {
        void on(const event& happening) noexcept override {
            if (happening.what == event::kind::release_expired) extended = other->extend();
        }
        guard* other = nullptr;
        bool extended = false;
    };
    testing::child_process alone{[&] {  // it would wait for itself
        const auto sink = std::make_shared<extending>();
        client_options options;
        options.sink = sink;
        const client own{server.url(), options};
        auto other = mutex{own, "other", later()}.acquire();
        sink->other = &other;
        auto held = mutex{own, "thing", later()}.acquire();
        raw_client{server.raw()}.del(lock_key);
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_TRUE(other.extend());
        EXPECT_TRUE(sink->extended);
    }};
    EXPECT_EQ(alone.wait(20s), testing::exited(0));
}

// With a waiter in sight there is nothing to win: the answer is read.
TEST_F(DeferredRelease, IsNotDeferredWhileSomebodyWaits) {
    const auto other = another();
    auto first = another()->lock.acquire();
    std::optional<guard> held;
    std::jthread mine{[&] { held = lock.acquire(); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    std::jthread next{[&] { EXPECT_TRUE(other->lock.try_acquire_for(10s)); }};
    ASSERT_TRUE(wait_for_sleepers(2));
    first.release();
    mine.join();
    raw.del(lock_key);
    EXPECT_EQ(held->release(), release_result::expired);
}

TEST_F(DeferredRelease, WakesWhoBeganToWaitMeanwhile) {
    auto held = lock.acquire();
    const auto other = another();
    std::optional<guard> next;
    std::jthread waiter{[&] { next = other->lock.try_acquire_for(10s); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    expect_wakes(held, waiter, next);
}

TEST_F(DeferredRelease, IsRepeatedWhenItWasLostOnItsWay) {
    auto held = lock.acquire();
    gate.hold(releasing());
    EXPECT_EQ(held.release(), release_result::released);
    ASSERT_TRUE(gate.wait_until_held(5s));
    gate.cut_held();
    ASSERT_TRUE(exists());
    EXPECT_TRUE((mutex{through, "other"}.try_acquire()));  // any next use of the client finds out
    EXPECT_TRUE(is_free_soon());
    EXPECT_EQ(told->count(event::kind::release_unknown), 0u);
}

TEST_F(DeferredRelease, DoesNotHarmTheNextUseWhenItsAnswerWasLost) {
    for (const auto how : {testing::ending::reset, testing::ending::close}) {
        auto held = lock.acquire();
        gate.swallow_reply(releasing(), how);
        EXPECT_EQ(held.release(), release_result::released);
        ASSERT_TRUE(gate.wait_until_swallowed(5s));
        const auto next = lock.acquire();
        EXPECT_TRUE(next);
        EXPECT_TRUE(exists());
    }
}

// It ran: that there is nothing left, or another owner, when it is asked again is no loss.
TEST_F(DeferredRelease, IsNoLossWhenOnlyItsAnswerWas) {
    for (const bool taken : {false, true}) {
        auto held = lock.acquire();
        gate.swallow_reply(releasing(), testing::ending::reset);
        EXPECT_EQ(held.release(), release_result::released);
        ASSERT_TRUE(gate.wait_until_swallowed(5s));
        if (taken) raw.set(lock_key, "foreign", 60s);
        EXPECT_TRUE((mutex{through, "other"}.try_acquire()));
        EXPECT_EQ(told->count(event::kind::release_expired), 0u);
        EXPECT_EQ(told->count(event::kind::release_taken), 0u);
        raw.del(lock_key);
    }
}

// What the server answered is told: it was not ours any more.
TEST_F(DeferredRelease, TellsOfAKeyThatWasGoneBefore) {
    auto held = lock.acquire();
    raw.del(lock_key);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE((mutex{through, "other"}.try_acquire()));
    EXPECT_EQ(told->count(event::kind::release_expired), 1u);
}

TEST_F(DeferredRelease, IsDoneBeforeTheClientIsGone) {
    for (int i = 0; i < 20; ++i) {
        auto own = std::make_unique<client>(server.url(), told_to(told));
        auto held = mutex{*own, "thing", later()}.acquire();
        held = mutex{*own, "another thing", later()}.acquire();  // the first one is released by that
        EXPECT_EQ(held.release(), release_result::released);
        own.reset();
        EXPECT_TRUE(raw.keys("lock:*thing").empty());
    }
    EXPECT_EQ(told->count(event::kind::release_unknown), 0u);
}

TEST_F(DeferredRelease, IsDoneBeforeTheProcessIsGone) {
    testing::child_process child{[&] {
        const client own{server.url()};
        const auto held = mutex{own, "thing", later()}.acquire();
    }};
    EXPECT_EQ(child.wait(5s), testing::exited(0));
    EXPECT_FALSE(exists());
}

// The child owns no answer that its parent waits for.
TEST_F(DeferredRelease, IsHeardOfByTheParentAlone) {
    lock.acquire().release();
    testing::child_process child{[&] { EXPECT_TRUE(lock.try_acquire_for(5s)); }};
    EXPECT_EQ(child.wait(5s), testing::exited(0));
    EXPECT_TRUE(lock.try_acquire_for(5s));
    EXPECT_EQ(told->count(event::kind::release_expired), 0u);
}

}  // namespace
}  // namespace tranca::mutex_test
