// What a holder that is renewed may do and meet: cases A01, B07, B15, C01, C02, C04, C15, N10, L03.
#include <random>
#include <thread>

#include "mutex/loss_watch.hpp"
#include "mutex/mutex_fixture.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"
#include "support/seed.hpp"

namespace tranca::mutex_test {
namespace {

using Holder = mutex_fixture;

// A01: killed at any moment, it never leaves a key without an end.
TEST_F(Holder, ThatIsKilledLeavesATtl) {
    std::mt19937_64 random{testing::seed("kills")};
    for (int i = 0; i < 60; ++i) {
        testing::child_process child{[&] {
            const client own{server.url()};
            const mutex lock{own, "thing", lasting(300ms)};
            for (;;)
                static_cast<void>(lock.acquire());
        }};
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 6'000});  // any moment will do
        child.kill_hard();
        for (const auto& key : raw.keys())
            EXPECT_NE(raw.pttl(key), -1) << key;
    }
    EXPECT_TRUE(lock_with().try_acquire_for(1s));
}

// B07: what could not be released can be released again.
TEST_F(Holder, CanReleaseAgainAfterNoAnswer) {
    const client own{server.url() + "?command_timeout=200ms"};
    auto held = mutex{own, "thing", lasting(30s)}.acquire();
    auto frozen = testing::frozen(server);
    EXPECT_EQ(held.release(), release_result::unknown);
    frozen.end();
    EXPECT_NE(held.release(), release_result::unknown);
    EXPECT_FALSE(exists());
}

// A release that nobody answered keeps no other thread of the process from asking.
TEST_F(Holder, WithoutAnAnswerDoesNotStandInTheWay) {
    const client own{server.url() + "?command_timeout=200ms"};
    const mutex lock{own, "thing", lasting(30s)};
    auto held = lock.acquire();
    auto frozen = testing::frozen(server);
    EXPECT_EQ(held.release(), release_result::unknown);
    frozen.end();
    EXPECT_TRUE(lock.try_acquire_for(1s));
}

// B15.
TEST_F(Holder, CanExtendAndReleaseWhenMemoryIsFull) {
    auto held = lock_with().acquire();
    const auto full = testing::out_of_memory(server);
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(exists());
}

// C01, C02.
TEST_F(Holder, CannotExtendWhatItHasLost) {
    auto held = lock_with(lasting(150ms, 0ms)).acquire();
    ASSERT_TRUE(eventually(1s, [&] { return !exists(); }));
    {
        const auto next = another(lasting(5s, 0ms))->lock.acquire();
        const auto end = expires_at();
        EXPECT_FALSE(held.extend(60s));
        EXPECT_EQ(expires_at(), end);
    }
    EXPECT_FALSE(held.extend());
    EXPECT_FALSE(exists());
}

// C04.
TEST_F(Holder, CannotExtendToNothing) {
    auto held = lock_with().acquire();
    for (const auto ttl : {0ms, -1ms}) {
        const auto failure = thrown_by([&] { held.extend(ttl); });
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::invalid_argument);
    }
    EXPECT_TRUE(exists());
    EXPECT_TRUE(held);
}

// An extension by hand to a shorter time is kept alive from there.
TEST_F(Holder, IsRenewedInTimeAfterAShortExtension) {
    auto held = lock_with(lasting(30s)).acquire();
    ASSERT_TRUE(held.extend(900ms));
    EXPECT_TRUE(throughout(1200ms, [&] { return raw.pttl(lock_key) > 0 && raw.pttl(lock_key) <= 900; }));
    EXPECT_TRUE(held);
}

// C15.
TEST_F(Holder, MayUseTheLibraryInItsLossListener) {
    auto owned = std::make_unique<client>(server.url());
    auto held = std::make_unique<guard>(mutex{*owned, "thing", lasting(300ms)}.acquire());
    std::atomic<bool> done{false};
    const std::stop_callback listener{held->lost(), [&] {
                                          EXPECT_FALSE(held->extend());
                                          held->release();
                                          EXPECT_TRUE((mutex{*owned, "thing"}.try_acquire()));
                                          held.reset();
                                          owned.reset();
                                          done = true;
                                      }};
    raw.del(lock_key);
    EXPECT_TRUE(eventually(5s, [&] { return done.load(); }));
}

TEST_F(Holder, ComesAndGoesWithItsClient) {
    for (int i = 0; i < 200; ++i) {
        const client own{server.url()};
        const auto held = mutex{own, "thing", lasting(300ms, 1ms)}.acquire();
        const loss_watch loss{held};
        EXPECT_FALSE(loss.told());
    }
    EXPECT_FALSE(exists());
}

// L03: a process that ends in order has released; one that is killed blocks the others for its ttl.
TEST_F(Holder, ThatIsKilledBlocksForItsTtl) {
    testing::child_process child{[&] {
        const client own{server.url()};
        const auto held = mutex{own, "thing", lasting(600ms)}.acquire();
        EXPECT_TRUE(throughout(20s, [&] { return !!held; }));
    }};
    ASSERT_TRUE(eventually(5s, [&] { return exists(); }));
    ASSERT_TRUE(throughout(700ms, [&] { return exists(); }));  // it is renewed
    child.kill_hard();
    const stopwatch since_kill;
    EXPECT_TRUE(lock_with().try_acquire_for(5s));
    EXPECT_LT(since_kill.elapsed(), 900ms);
}

// N10: told by the first attempt, which takes nothing.
TEST_F(Holder, WithoutScriptsIsToldAtOnce) {
    const auto user = testing::without_scripting(server);
    const client limited{user.url()};
    const auto failure = thrown_by([&] { static_cast<void>(mutex{limited, "thing"}.acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::no_permission);
    EXPECT_FALSE(failure->in_doubt());
    EXPECT_FALSE(exists());
}

}  // namespace
}  // namespace tranca::mutex_test
