// A wait goes on over what happens to the holder and to the server. Cases W02, W14, N03, N09, N12, N16.
#include <algorithm>
#include <array>
#include <thread>

#include "mutex/mutex_fixture.hpp"
#include "mutex/pending_wait.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"
#include "support/replica_pair.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

using WaitingFaults = mutex_fixture;

// W02: an expiry wakes nobody; every waiter has a timer of its own for it.
TEST_F(WaitingFaults, NoticeTheDeathOfAHolderWhenItsKeyExpires) {
    std::array<std::int64_t, 3> late{};
    for (auto& each : late) {
        testing::child_process holder{[&] {
            const client own{server.url()};
            const auto held = mutex{own, "thing", lasting(400ms)}.acquire();
            EXPECT_TRUE(throughout(20s, [&] { return !!held; }));
        }};
        ASSERT_TRUE(eventually(5s, [&] { return exists(); }));
        const auto other = another();
        pending_wait waiter{other->lock};
        ASSERT_TRUE(wait_for_sleepers(1));
        holder.kill_hard();
        const auto end = expires_at();
        ASSERT_TRUE(waiter.granted_within(3s));
        each = waiter.wall_time() - end;
        EXPECT_GE(each, 0);
        EXPECT_LT(each, 300);
    }
    EXPECT_LT(*std::ranges::min_element(late), 50);  // the machine may have been busy, but not always
}

// W14: the server ends the block with -UNBLOCKED, and refuses what came with it.
TEST_F(WaitingFaults, GoOnOverAChangeOfRole) {
    occupy();
    const auto other = another();
    pending_wait waiter{other->lock};
    ASSERT_TRUE(wait_for_sleepers(1));
    auto demoted = testing::demoted(server);
    EXPECT_TRUE(throughout(500ms, [&] { return !waiter.done(); }));
    demoted.end();
    raw.del(lock_key);
    EXPECT_TRUE(waiter.granted_within(2s));
    EXPECT_TRUE(waiter.held());
}

// Servers without redis#14164 or valkey#2117 end themselves when a command that is only paused is unblocked.
TEST_F(WaitingFaults, NeverUnblockACommandThatIsOnlyPaused) {
    testing::redis_server own;
    testing::tcp_gate gate{own.tcp()};
    own.must({"SET", lock_key, "foreign"});
    const client other{gate.url()};
    const auto block = gate.hold(testing::named("BLPOP"));
    pending_wait waiter{mutex{other, "thing", lasting(10s)}};
    ASSERT_TRUE(gate.wait_until_held(5s));
    {
        const auto paused = testing::paused(own, 5s);
        gate.let_go(block);
        EXPECT_TRUE(gate.wait_for_command(5s, testing::text_like("CLIENT UNBLOCK")));
        EXPECT_TRUE(throughout(200ms, [&] { return own.running(); }));
    }
    ASSERT_TRUE(own.running());
    own.must({"DEL", lock_key});
    EXPECT_TRUE(waiter.granted_within(5s));
}

// The answer comes when what it grants is over: given back, and asked for again.
TEST_F(WaitingFaults, AreNeverGivenALeaseThatIsOver) {
    testing::tcp_gate gate{server.tcp()};
    const client other{gate.url()};
    const mutex brief{other, "thing", lasting(200ms)};
    EXPECT_EQ(brief.try_acquire_for(1s)->release(), release_result::released);
    const auto answer = gate.hold_reply("EVALSHA");
    pending_wait waiter{brief};
    ASSERT_TRUE(gate.wait_until_held(5s));
    ASSERT_TRUE(eventually(5s, [&] { return !exists(); }));
    gate.let_go(answer);
    ASSERT_TRUE(waiter.granted_within(5s));
    EXPECT_TRUE(waiter.held());
}

// Who meets the moment in which nobody answers waits for it to pass. Nobody sleeps on, and nothing is left.
TEST_F(WaitingFaults, OverARestartEndInTime) {
    for (int round = 0; round < 3; ++round) {
        occupy();
        std::vector<std::unique_ptr<stranger>> others;
        std::vector<std::unique_ptr<pending_wait>> waiters;
        for (int i = 0; i < 8; ++i) {
            others.push_back(another());
            waiters.push_back(std::make_unique<pending_wait>(others.back()->lock));
        }
        ASSERT_TRUE(wait_for_sleepers(8));
        testing::restart_without_persistence(server);
        const auto is_served = [](const auto& each) { return each->done(); };
        while (!waiters.empty()) {
            ASSERT_TRUE(eventually(5s, [&] { return std::ranges::any_of(waiters, is_served); }));
            const auto served = std::ranges::find_if(waiters, is_served);
            EXPECT_TRUE((*served)->granted_within(0ms));
            waiters.erase(served);  // and releases
        }
        EXPECT_TRUE(eventually(1s, [&] { return !exists(); }));
    }
}

// Numbers of connections begin anew on another server: what has our number there is somebody else's.
TEST_F(WaitingFaults, KillNobodyElsesConnectionOnAnotherServer) {
    occupy();
    testing::redis_server next;
    std::vector<raw_client> bystanders;
    std::vector<std::int64_t> numbers;
    const auto own = raw.id();
    for (std::int64_t last = 0; last < own + 20;) {
        bystanders.push_back(next.raw());
        numbers.push_back(last = bystanders.back().id());
    }
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url()};
    pending_wait waiter{mutex{through, "thing"}};
    ASSERT_TRUE(wait_for_sleepers(1));
    gate.redirect(next.tcp());
    gate.cut();
    ASSERT_TRUE(waiter.granted_within(5s));
    for (std::size_t i = 0; i < bystanders.size(); ++i)
        EXPECT_EQ(bystanders[i].id(), numbers[i]);  // another number: its connection had to be made anew
}

// The old connection is closed on the server too, so that what it still carries is never run.
TEST_F(WaitingFaults, KillTheirOwnConnectionWhenItIsInDoubt) {
    occupy();
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url() + "?command_timeout=200ms"};
    pending_wait waiter{mutex{through, "thing", lasting(2s)}};
    ASSERT_TRUE(wait_for_sleepers(1));
    gate.black_hole(testing::direction::to_client, 1);
    gate.black_hole(testing::direction::to_client, 2);
    EXPECT_TRUE(eventually(3s, [&] { return raw.calls("client|kill") > 0; }));
    gate.pass();
    free_and_wake();
    EXPECT_TRUE(waiter.granted_within(3s));
}

TEST_F(WaitingFaults, GoOnOverAFailover) {
    testing::replica_pair pair;
    const client holding{pair.url()};
    const client through{pair.url()};
    auto held = mutex{holding, "thing", lasting(30s)}.acquire();
    pair.wait_in_sync();
    pending_wait waiter{mutex{through, "thing"}};
    ASSERT_TRUE(eventually(5s, [&] {
        return pair.master().must({"INFO", "clients"}).text.find("blocked_clients:1") != std::string::npos;
    }));
    pair.switch_over();
    EXPECT_TRUE(throughout(300ms, [&] { return !waiter.done(); }));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(waiter.granted_within(2s));
}

// N12, N09, N16 and the like.
TEST_F(WaitingFaults, GoOnOverWhatPasses) {
    const auto other = another();
    {
        auto held = lock_with().acquire();
        pending_wait waiter{other->lock};
        ASSERT_TRUE(wait_for_sleepers(1));
        raw.flush();
        EXPECT_TRUE(waiter.granted_within(1500ms));
    }
    raw.flush();
    for (const auto& make : {testing::no_replicas, testing::busy_script, testing::out_of_memory}) {
        auto state = make(server);
        pending_wait waiter{other->lock};
        EXPECT_TRUE(throughout(200ms, [&] { return !waiter.done(); }));
        state.end();
        EXPECT_TRUE(waiter.granted_within(2s));
        waiter.held().release();
    }
    const auto fresh = another();
    auto full = testing::too_many_clients(server);
    pending_wait waiter{fresh->lock};
    EXPECT_TRUE(throughout(200ms, [&] { return !waiter.done(); }));
    full.end();
    EXPECT_TRUE(waiter.granted_within(2s));
}

TEST_F(WaitingFaults, GoOnWithoutTheirConnections) {
    occupy();
    const auto other = another();
    pending_wait waiter{other->lock};
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(wait_for_sleepers(1));
        EXPECT_GE(testing::kill_connections(server), 1);
    }
    ASSERT_TRUE(wait_for_sleepers(1));
    free_and_wake();
    EXPECT_TRUE(waiter.granted_within(1s));
}

TEST_F(WaitingFaults, GoOnWithoutTheirScripts) {
    occupy();
    const auto other = another();
    pending_wait waiter{other->lock};
    ASSERT_TRUE(wait_for_sleepers(1));
    testing::flush_scripts(server);
    free_and_wake();
    EXPECT_TRUE(waiter.granted_within(500ms));
}

}  // namespace
}  // namespace tranca::mutex_test
