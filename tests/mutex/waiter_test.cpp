// A waiter that dies, freezes, is stopped or lacks a right costs the others little and leaves nothing behind.
// Cases W12, W16, N02, N10, H16.
#include <thread>

#include "mutex/mutex_fixture.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"
#include "support/shared_memory.hpp"

namespace tranca::mutex_test {
namespace {

using testing::child_process;
using testing::exited;

class Waiter : public mutex_fixture {
protected:
    /// Of another kind, so that it does not queue behind the same client's holder but on the server.
    [[nodiscard]] static mutex rival_of(const client& own) { return mutex{own, "thing", lasting(20s)}; }
};

// It was given the lock without knowing: its own ttl bounds what that costs. W16.
TEST_F(Waiter, ThatFreezesCostsItsOwnTtl) {
    auto held = lock_with(lasting(30s)).acquire();
    testing::shared_memory<std::atomic<std::uint64_t>> fence{0U};
    child_process frozen{[&] {
        const client own{server.url()};
        const auto mine = mutex{own, "thing", lasting(800ms)}.try_acquire_for(20s);
        ASSERT_TRUE(mine);
        EXPECT_TRUE(*mine);
        EXPECT_GT(*mine->fence(), *fence);  // not what it was given while it stood still
    }};
    ASSERT_TRUE(wait_for_sleepers(1));
    frozen.freeze();
    const auto other = another(lasting(30s));
    std::optional<guard> next;
    std::jthread waiter{[&] { next = other->lock.try_acquire_for(10s); }};
    ASSERT_TRUE(wait_for_sleepers(2));
    const stopwatch since_release;
    held.release();
    waiter.join();
    ASSERT_TRUE(next);
    EXPECT_LT(since_release.elapsed(), 1500ms);
    *fence = *next->fence();
    frozen.resume();
    EXPECT_TRUE(throughout(200ms, [&] { return frozen.running() && !!*next; }));
    next->release();
    EXPECT_EQ(frozen.wait(5s), exited(0));
}

TEST_F(Waiter, ThatDiesCostsNothing) {
    auto held = lock_with(lasting(30s)).acquire();
    child_process dying{[&] {
        const client own{server.url()};
        static_cast<void>(mutex{own, "thing"}.try_acquire_for(20s));
    }};
    ASSERT_TRUE(wait_for_sleepers(1));
    const auto other = another();
    std::optional<guard> next;
    std::jthread waiter{[&] { next = other->lock.try_acquire_for(10s); }};
    ASSERT_TRUE(wait_for_sleepers(2));
    dying.kill_hard();
    ASSERT_TRUE(wait_for_sleepers(1));
    expect_wakes(held, waiter, next);
}

TEST_F(Waiter, ThatIsStoppedLeavesNothingAtOnce) {
    const auto user = testing::without(server, {"client"});
    for (const auto& url : {server.url(), user.url()}) {  // with and without the right to unblock itself
        EXPECT_TRUE(testing::once_below(200ms, [&] {
            occupy();
            const client own{url};
            std::stop_source stop;
            std::optional<guard> held;
            std::jthread waiter{[&] { held = mutex{own, "thing"}.try_acquire_for(20s, stop.get_token()); }};
            EXPECT_TRUE(wait_for_sleepers(1));
            const stopwatch since_stop;
            stop.request_stop();
            waiter.join();
            const auto took = since_stop.elapsed();
            EXPECT_FALSE(held);
            EXPECT_TRUE(wait_for_sleepers(0));
            raw.del(lock_key);
            raw.must({"LPUSH", wake_key, "1"});  // nobody is left who would take it
            EXPECT_TRUE(throughout(100ms, [&] { return !exists() && raw.exists(wake_key) == 1; }));
            raw.flush();
            return took;
        }));
    }
}

TEST_F(Waiter, ThatIsStoppedBeforehandDoesNotAsk) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(lock_with().try_acquire_for(10s, stop.get_token()));
    EXPECT_EQ(raw.exists(fence_key), 0);
}

// N10: without the right to CLIENT it is woken all the same.
TEST_F(Waiter, WithoutTheRightToUnblockItselfIsWoken) {
    const auto user = testing::without(server, {"client"});
    const client own{user.url()};
    auto held = lock_with(lasting(30s)).acquire();
    std::optional<guard> next;
    std::jthread waiter{[&] { next = mutex{own, "thing"}.try_acquire_for(10s); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    // Over the end of its first slice, which only the server's own timer ends.
    ASSERT_TRUE(throughout(1300ms, [&] { return !next; }));
    ASSERT_TRUE(wait_for_sleepers(1));
    expect_wakes(held, waiter, next);
}

// N10: a right of its own each.
TEST_F(Waiter, WithoutAnyOneRightToClientsIsWokenAndStopped) {
    for (const std::string lacking : {"client|info", "client|unblock", "client|kill"}) {
        const auto user = testing::without(server, {lacking});
        const client own{user.url()};
        const mutex lock{own, "thing"};
        auto held = lock_with(lasting(30s)).acquire();
        std::optional<guard> next;
        std::jthread waiter{[&] { next = lock.try_acquire_for(10s); }};
        ASSERT_TRUE(wait_for_sleepers(1));
        ASSERT_TRUE(throughout(1300ms, [&] { return !next; })) << lacking;  // over the end of its first slice
        ASSERT_TRUE(wait_for_sleepers(1));
        expect_wakes(held, waiter, next);
        EXPECT_TRUE(testing::once_below(200ms, [&] {
            std::stop_source stop;
            std::jthread other{[&] { EXPECT_FALSE(rival_of(own).try_acquire_for(20s, stop.get_token())); }};
            EXPECT_TRUE(wait_for_sleepers(1));
            const stopwatch since_stop;
            stop.request_stop();
            other.join();
            return since_stop.elapsed();
        })) << lacking;
        next->release();
        raw.flush();
    }
}

TEST_F(Waiter, WithTheRightsTheHeaderNamesIsContent) {
    const auto user = testing::rights(
        server, {"~lock:*", "~{lock:*", "+@scripting", "+set", "+get", "+del", "+time", "+pttl", "+pexpire", "+exists",
                 "+llen", "+lpush", "+blpop", "+client|info", "+client|unblock", "+client|kill"});
    const client own{user.url()};
    const mutex lock{own, "thing", lasting(900ms)};
    occupy(1200ms);
    auto held = lock.try_acquire_for(5s);
    ASSERT_TRUE(held);
    EXPECT_TRUE(throughout(1100ms, [&] { return !!*held; }));
    EXPECT_EQ(held->release(), release_result::released);
}

// W12: with one connection to keep, and many that wait.
TEST_F(Waiter, NeverHoldsTheConnectionAHolderNeeds) {
    client_options options;
    options.max_idle_connections = 1;
    const client small{server.url(), options};
    auto held = mutex{small, "mine", lasting(900ms)}.acquire();
    occupy();
    raw.set("lock:other", "foreign", 60s);
    std::stop_source stop;
    std::vector<std::jthread> waiters;
    for (const std::string name : {"thing", "other", "thing", "mine"})
        waiters.emplace_back([&, name] {
            static_cast<void>(mutex{small, name}.try_acquire_for(20s, stop.get_token()));
        });
    ASSERT_TRUE(wait_for_sleepers(2));  // those of one name share a place
    EXPECT_TRUE(throughout(1100ms, [&] { return raw.exists("lock:mine") == 1 && !!held; }));
    EXPECT_TRUE(testing::once_below(100ms, [&] {
        const stopwatch since_start;
        EXPECT_TRUE(held.extend());
        return since_start.elapsed();
    }));
    const stopwatch since_release;
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_LT(since_release.elapsed(), 400ms);  // a connection would be free after a slice, of half a second at least
    stop.request_stop();
}

// H16: clients that go while threads wait, at any moment.
TEST_F(Waiter, OfAClientThatIsDestroyedIsStopped) {
    occupy();
    for (int round = 0; round < 30; ++round) {
        auto own = std::make_unique<client>(server.url());
        const mutex lock{*own, "thing"};
        std::vector<std::jthread> waiters;
        for (int i = 0; i < 3; ++i)
            waiters.emplace_back([&] {
                const auto failure = thrown_by([&] { static_cast<void>(lock.acquire()); });
                ASSERT_TRUE(failure);
                EXPECT_TRUE(failure->reason() == errc::stopped || round % 2 == 1) << failure->what();
            });
        EXPECT_TRUE(round % 3 == 0 || wait_for_sleepers(1));
        if (round % 2 == 1) testing::kill_connections(server);
        own.reset();
        const stopwatch since_close;
        waiters.clear();
        EXPECT_LT(since_close.elapsed(), 1s);
        EXPECT_TRUE(wait_for_sleepers(0));
    }
    EXPECT_EQ(raw.get(lock_key), "foreign");
}

// N02: in Cluster mode every helper key is in the slot of its lock.
TEST_F(Waiter, IsWokenInClusterModeWhateverTheName) {
    const auto cluster = testing::single_node_cluster();
    const client one{cluster->url()};
    const client two{cluster->url()};
    auto own = cluster->raw();
    for (const std::string name : {"x", "a:b", "{x}", "a{b}c", "%s%n\r\n", "\xff"}) {
        EXPECT_TRUE(testing::once_below(300ms, [&] {
            auto held = mutex{one, name, lasting(30s)}.acquire();
            std::optional<guard> next;
            std::jthread waiter{[&] { next = mutex{two, name}.try_acquire_for(10s); }};
            EXPECT_TRUE(eventually(5s, [&] { return own.info("blocked_clients") == "1"; })) << name;
            const stopwatch since_release;
            held.release();
            waiter.join();
            EXPECT_TRUE(next) << name;
            return since_release.elapsed();
        })) << name;
    }
}

}  // namespace
}  // namespace tranca::mutex_test
