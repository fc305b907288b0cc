// A lock handed on from one thread of a process to the next: without a command, and not for ever.
#include <thread>
#include <vector>

#include "mutex/mutex_fixture.hpp"
#include "mutex/sleeping_thread.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::mutex_test {
namespace {

using testing::monitor_reader;

using HandOver = mutex_fixture;

TEST_F(HandOver, TakesNoCommand) {
    const auto lock = lock_with(lasting(30s));
    auto held = lock.acquire();
    std::optional<guard> next;
    std::atomic<bool> look{false};
    sleeping_thread waiter{[&] {
        next = lock.acquire();
        look = true;
    }};
    ASSERT_TRUE(waiter.sleeps());
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    const auto before = held.fence();
    EXPECT_EQ(held.release(), release_result::released);
    ASSERT_TRUE(eventually(2s, [&] { return look.load(); }));
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_FALSE(held);
    EXPECT_TRUE(*next);
    EXPECT_GT(next->fence(), before);
    EXPECT_TRUE(next->extend());
    EXPECT_FALSE(another()->lock.try_acquire());
    EXPECT_EQ(next->release(), release_result::released);
    EXPECT_FALSE(exists());
}

// What was handed over is renewed, and lost, like any other.
TEST_F(HandOver, GivesALeaseThatIsRenewed) {
    const auto lock = lock_with(lasting(1s));
    auto held = lock.acquire();
    std::optional<guard> next;
    {
        sleeping_thread waiter{[&] { next = lock.acquire(); }};
        ASSERT_TRUE(waiter.sleeps());
        held.release();
    }
    EXPECT_TRUE(throughout(1500ms, [&] { return exists() && !!*next; }));
    const auto lost = next->lost();
    raw.del(lock_key);
    EXPECT_TRUE(eventually(1s, [&] { return lost.stop_requested(); }));
}

// Options are a caller's own: nobody is handed a lease of another kind.
TEST_F(HandOver, GivesNobodyALeaseItDidNotAskFor) {
    auto plain = lasting(5s);
    plain.fencing = fencing::off;
    auto wanted = lasting(30s);
    wanted.label = "the second";
    const auto second = lock_with(wanted);
    auto held = lock_with(plain).acquire();
    std::optional<guard> next;
    {
        sleeping_thread waiter{[&] { next = second.acquire(); }};
        ASSERT_TRUE(waiter.sleeps());
        EXPECT_EQ(held.release(), release_result::released);
    }
    ASSERT_TRUE(next);
    EXPECT_TRUE(next->fence());
    EXPECT_GT(next->safe_until() - clock::now(), 20s);
    EXPECT_EQ(second.inspect().label, "the second");
}

// Nor one for longer than it asked: it would keep the others out for that long if it crashed.
TEST_F(HandOver, GivesNobodyALongerLease) {
    const auto lock = lock_with(lasting(10s));
    auto held = lock.acquire();
    ASSERT_TRUE(held.extend(1h));
    std::optional<guard> next;
    {
        sleeping_thread waiter{[&] { next = lock.acquire(); }};
        ASSERT_TRUE(waiter.sleeps());
        EXPECT_EQ(held.release(), release_result::released);
    }
    ASSERT_TRUE(next);
    EXPECT_LE(raw.pttl(lock_key), 10'000);
    EXPECT_LE(next->safe_until(), clock::now() + 10s);
}

TEST_F(HandOver, LetsOthersInAfterSixtyFourTurns) {
    const auto lock = lock_with();
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> turns{0};
    std::vector<std::jthread> greedy;
    for (int i = 0; i < 4; ++i)
        greedy.emplace_back([&] {
            while (!stop) {
                const auto held = lock.acquire();
                ++turns;
                const stopwatch inside;
                while (inside.elapsed() < 200us) {
                }
            }
        });
    const auto other = another();
    EXPECT_TRUE(eventually(5s, [&] { return turns > 0; }));
    for (int round = 0; round < 10; ++round) {
        std::atomic<bool> granted{false};
        std::atomic<std::uint64_t> at_grant{0};
        std::jthread waiter{[&] {
            const auto held = other->lock.acquire();
            at_grant = turns.load();
            granted = true;
        }};
        EXPECT_TRUE(eventually(5s, [&] { return granted || raw.info("blocked_clients") != "0"; }));
        const auto at_sleep = turns.load();
        waiter.join();
        // 64 handed on, the one before them, and whoever comes first when those are over.
        EXPECT_LE(at_grant - std::min(at_grant.load(), at_sleep), 2u * (gate::handoff_limit + 1));
    }
    stop = true;
}

// Of a lease that finds no memory to make the next one.
TEST_F(HandOver, ThatFailsIsARelease) {
    struct out_of_memory final : lease {
        using lease::lease;
        [[nodiscard]] const script& release_script() const noexcept override { return scripts::release_mutex(); }
        [[nodiscard]] repeatable_call release_call_of(const tranca::token& whose) const override {
            return scripts::release_mutex().call({name().bytes(), wake_key, mark_key}, whose);
        }
        [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override {
            return scripts::extend_mutex().call({name().bytes()}, owner(), ttl);
        }
        bool pass_on() override { throw std::bad_alloc{}; }
    };
    const auto made = std::make_shared<out_of_memory>(redis.pool(), key{lock_key}, lease_clock{{.ttl = 10s}});
    raw.set(lock_key, std::string{made->owner().text()}, 10s);
    made->begin(clock::now());
    guard held{made};
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(exists());
}

}  // namespace
}  // namespace tranca::mutex_test
