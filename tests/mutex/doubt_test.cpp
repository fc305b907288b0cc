// What was sent but not answered: never "busy" when it is ours, and no ghost for the rest of the ttl. Cases A09, A11, H01.
#include <thread>

#include "mutex/mutex_fixture.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

using testing::ending;

/// What asks for the lock: of the scripts only the one that takes it is given the fence.
[[nodiscard]] testing::command_match asking() {
    return testing::text_like("^EVALSHA [0-9a-f]{40} 3 [^ ]+ [^ ]+:fence ");
}

class Doubt : public mutex_fixture {
protected:
    void SetUp() override {
        // The scripts are known and the rights tried; on a busy machine its short limits may not do at once.
        ASSERT_TRUE(eventually(10s, [&] { return !thrown_by([&] { static_cast<void>(lock.try_acquire()); }); }));
        told = std::make_shared<counters>();
    }

    [[nodiscard]] bool is_free_soon(milliseconds limit = 2s) {
        return eventually(limit, [&] { return !exists(); });
    }

    testing::tcp_gate gate{server.tcp()};
    client through{gate.url() + "?command_timeout=300ms&connect_timeout=300ms", told_to(told)};
    mutex lock{through, "thing", lasting(30s)};
};

TEST_F(Doubt, OfAnAttemptIsSettled) {
    for (const auto how : {ending::reset, ending::close, ending::keep_open}) {
        gate.swallow_reply(asking(), how);
        std::optional<guard> held;
        const auto failure = thrown_by([&] { held = lock.try_acquire(); });
        EXPECT_TRUE(gate.wait_until_swallowed(0ms));
        EXPECT_TRUE(held || failure) << "busy, though it was ours";
        EXPECT_TRUE(!held || *held);
        held.reset();
        EXPECT_TRUE(is_free_soon());
    }
}

TEST_F(Doubt, OfTheFirstAskOfAWaitIsSettledByAsking) {
    for (const auto how : {ending::reset, ending::close, ending::keep_open}) {
        gate.swallow_reply(asking(), how);
        auto held = lock.try_acquire_for(5s);
        EXPECT_TRUE(gate.wait_until_swallowed(0ms));
        ASSERT_TRUE(held);
        EXPECT_TRUE(*held);
        EXPECT_GE(held->safe_until(), clock::now() + 20s);
        EXPECT_EQ(held->release(), release_result::released);
        EXPECT_FALSE(exists());
    }
}

TEST_F(Doubt, OfABlockedWaiterIsSettledByAsking) {
    for (const auto how : {ending::reset, ending::close, ending::keep_open}) {
        occupy();
        std::optional<guard> held;
        std::jthread waiter{[&] { held = lock.try_acquire_for(10s); }};
        ASSERT_TRUE(wait_for_sleepers(1));
        gate.swallow_reply("BLPOP", how);  // and what follows it
        free_and_wake();
        waiter.join();
        ASSERT_TRUE(held);
        EXPECT_TRUE(*held);
        EXPECT_EQ(held->release(), release_result::released);
        EXPECT_FALSE(exists());
    }
}

// What the first connection still carries is not forgotten because the second one, which was to drop it, broke too.
TEST_F(Doubt, OfABlockedWaiterOutlivesTheNextConnection) {
    occupy();
    std::optional<guard> held;
    std::jthread waiter{[&] { held = lock.try_acquire_for(10s); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    gate.swallow_reply("BLPOP", ending::keep_open);
    gate.swallow_reply(testing::text_like("^CLIENT KILL "), ending::reset);
    free_and_wake();
    waiter.join();
    EXPECT_TRUE(gate.wait_until_swallowed(0ms));
    EXPECT_EQ(gate.commands(testing::text_like("^CLIENT KILL ")), 2u);
    ASSERT_TRUE(held);
    EXPECT_TRUE(*held);
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_FALSE(exists());
}

// Cut on its way as often as it likes: a release is sent again, and does not leave the key to its ttl.
TEST_F(Doubt, OfAReleaseThatIsCutThreeTimesIsSettled) {
    const auto release = releasing();
    const client patient{gate.url() + "?command_timeout=5s", told_to(told)};  // for three connections more
    auto held = mutex{patient, "thing", lasting(30s)}.acquire();
    gate.hold(release);
    std::jthread cutter{[&] {
        for (int cut = 0; cut < 3 && gate.wait_until_held(2s); ++cut) {
            gate.cut_held();
            if (cut < 2) gate.hold(release);
        }
    }};
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(exists());
}

// What is not there when it is sent again is what the first sending took away.
TEST_F(Doubt, OfAReleaseWhoseAnswerIsLostIsSettled) {
    for (const auto how : {ending::reset, ending::close}) {
        auto held = lock.acquire();
        gate.swallow_reply(releasing(), how);
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_FALSE(exists());
    }
    EXPECT_EQ(told->count(event::kind::release_expired), 0u);
}

// Who owns it when it is sent again may have come after the first sending, or before.
TEST_F(Doubt, OfAReleaseWhoseAnswerIsLostIsToldWhereAnotherHasCome) {
    auto held = lock.acquire();
    gate.hold_reply(releasing());
    std::jthread other{[&] {
        ASSERT_TRUE(gate.wait_until_held(2s));
        occupy();
        gate.cut_held();
    }};
    EXPECT_EQ(held.release(), release_result::unknown);
    EXPECT_EQ(raw.get(lock_key), "foreign");
    EXPECT_EQ(told->count(event::kind::release_taken), 0u);
}

// Nobody can be asked again at once: later it is found out by asking.
TEST_F(Doubt, OfAReleaseThatWasCutAndCouldNotBeSentAgainIsSettledByAnother) {
    auto held = lock.acquire();
    gate.swallow_reply(releasing(), ending::reset);
    gate.refuse_connections();
    EXPECT_EQ(held.release(), release_result::unknown);
    gate.accept_connections();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(exists());
}

// The fence of the grant that nobody heard of is the one it gets.
TEST_F(Doubt, KeepsTheFenceOfTheGrantThatWasNotHeard) {
    gate.swallow_reply(asking(), ending::reset);
    const auto held = lock.try_acquire_for(5s);
    ASSERT_TRUE(held);
    EXPECT_EQ(lock.inspect().fence, held->fence());
}

// A11: what was queued is run when the server goes on, even for a socket that is closed.
TEST_F(Doubt, OfAnAttemptOnAFrozenServerLeavesNoGhost) {
    auto frozen = testing::frozen(server);
    const stopwatch since_start;
    const auto failure = thrown_by([&] { static_cast<void>(lock.try_acquire()); });
    EXPECT_LT(since_start.elapsed(), 1500ms);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_TRUE(failure->in_doubt());
    frozen.end();
    EXPECT_TRUE(another()->lock.try_acquire_for(2s));
}

TEST_F(Doubt, OfAWaitOnAFrozenServerLeavesNoGhost) {
    for (const bool direct : {false, true}) {
        const client own{server.url() + "?command_timeout=300ms", told_to(told)};
        const mutex other{own, "thing", lasting(30s)};
        static_cast<void>(other.try_acquire());
        auto frozen = testing::frozen(server);
        const auto failure = thrown_by([&] { static_cast<void>((direct ? other : lock).try_acquire_for(10s)); });
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::timeout);
        frozen.end();
        EXPECT_TRUE(another()->lock.try_acquire_for(2s));
        EXPECT_TRUE(is_free_soon());
    }
}

TEST_F(Doubt, OfABlockedWaiterOnAFrozenServerLeavesNoGhost) {
    occupy(1s);  // it runs out while the server stands still, so that what was queued is granted
    std::optional<error> failure;
    std::optional<guard> held;
    std::jthread waiter{[&] { failure = thrown_by([&] { held = lock.try_acquire_for(10s); }); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    auto frozen = testing::frozen(server);
    ASSERT_TRUE(throughout(1200ms, [&] { return !held; }));
    frozen.end();
    waiter.join();
    EXPECT_TRUE(failure || held);
    held.reset();
    EXPECT_TRUE(another()->lock.try_acquire_for(2s));
}

// What a broken connection still carries, and may not be dropped, is run some time: then asking again settles nothing.
TEST_F(Doubt, WithoutTheRightToDropAConnectionIsTold) {
    const auto user = testing::without(server, {"client|kill"});
    const auto place = gate.url().substr(std::string_view{"redis://"}.size());
    const client own{"redis://" + user.name() + ":" + user.password() + "@" + place + "?command_timeout=300ms"};
    occupy();
    std::optional<error> failure;
    std::jthread waiter{[&] {
        failure = thrown_by([&] { static_cast<void>(mutex{own, "thing", lasting(30s)}.try_acquire_for(10s)); });
    }};
    ASSERT_TRUE(wait_for_sleepers(1));
    gate.hold("BLPOP");  // of its next slice
    waiter.join();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::no_permission);
    EXPECT_TRUE(failure->in_doubt());
    EXPECT_THAT(failure->what(), ::testing::AllOf(::testing::HasSubstr("lock:thing"), ::testing::HasSubstr("kill")));
}

// A blocked waiter that can no longer reach the server may have been given the lock all the same.
TEST_F(Doubt, OfAWaiterThatIsCutOffWhileItIsGrantedIsTold) {
    occupy();
    std::optional<error> failure;
    std::optional<guard> held;
    std::jthread waiter{[&] { failure = thrown_by([&] { held = lock.try_acquire_for(10s); }); }};
    ASSERT_TRUE(wait_for_sleepers(1));
    gate.refuse_connections();
    gate.black_hole(testing::direction::to_client);
    free_and_wake();
    waiter.join();
    EXPECT_FALSE(held);
    ASSERT_TRUE(failure);
    EXPECT_TRUE(exists());  // nothing could undo it
    EXPECT_TRUE(failure->in_doubt()) << failure->what();
}

// The list of wake-ups is spoilt: the block fails at once, and what follows it may have been granted meanwhile.
TEST_F(Doubt, OfAWaiterWhoseBlockIsRefusedLeavesNoGhost) {
    occupy();
    testing::make_without_ttl(server, wake_key, "no list");
    gate.hold("BLPOP");
    std::optional<error> failure;
    std::optional<guard> held;
    std::jthread waiter{[&] { failure = thrown_by([&] { held = lock.try_acquire_for(10s); }); }};
    ASSERT_TRUE(gate.wait_until_held(5s));
    raw.del(lock_key);
    gate.let_go();
    waiter.join();
    EXPECT_TRUE(held || failure);
    held.reset();
    EXPECT_TRUE(is_free_soon()) << (failure ? failure->what() : "");
}

// A09: counted from before the request was sent.
TEST_F(Doubt, OfAGrantThatCameTooLateIsNone) {
    const client slow{gate.url() + "?command_timeout=2s", told_to(told)};
    const mutex brief{slow, "thing", lasting(200ms)};
    gate.delay_replies(300ms, asking());
    const auto failure = thrown_by([&] { static_cast<void>(brief.try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_FALSE(failure->in_doubt());
    EXPECT_FALSE(exists());
    const auto again = thrown_by([&] { static_cast<void>(brief.try_acquire_for(700ms)); });
    EXPECT_TRUE(is_free_soon(300ms));
    EXPECT_EQ(told->count(event::kind::lease_lost) + told->count(event::kind::release_expired), 0u) << "nobody had it";
}

// What gives a late grant back may come late itself: nothing with its token may be taken after it.
TEST_F(Doubt, OfALateGrantThatCouldNotBeGivenBackIsTold) {
    occupy();
    const client own{gate.url() + "?command_timeout=2s", told_to(told)};
    const mutex brief{own, "thing", lasting(1s, 0ms)};
    ASSERT_FALSE(brief.try_acquire());  // and the rights are tried
    testing::tcp_gate::hold_id block{};
    testing::tcp_gate::hold_id release{};
    std::optional<guard> held;
    std::optional<error> failure;
    std::jthread waiter;
    // It has to be woken within its slice, of 62 ms at least: where the machine stood still for as long, once more.
    ASSERT_TRUE(eventually(10s, [&] {
        block = gate.hold_reply("BLPOP");
        release = gate.hold(releasing());
        waiter = std::jthread{[&] { failure = thrown_by([&] { held = brief.try_acquire_for(10s); }); }};
        EXPECT_TRUE(wait_for_sleepers(1));
        free_and_wake();
        EXPECT_TRUE(gate.wait_until_held(5s, block));
        if (exists()) return true;
        gate.pass();
        waiter.join();
        held.reset();
        raw.flush();
        occupy();
        return false;
    }));
    ASSERT_TRUE(eventually(5s, [&] { return !exists(); }));
    gate.let_go(block);
    ASSERT_TRUE(gate.wait_until_held(5s, release));
    waiter.join();
    gate.let_go(release);
    EXPECT_TRUE(throughout(100ms, [&] { return exists() || !held || !*held; })) << "held without a key";
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->in_doubt());
}

// H01: a late answer is never taken for that of another name.
TEST_F(Doubt, OfOneNameSaysNothingAboutAnother) {
    raw.set("lock:other", "foreign", 60s);
    const mutex other{through, "other"};
    gate.delay_replies(500ms, nth(1, asking()));
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(lock.try_acquire()); }));
    EXPECT_FALSE(other.try_acquire());
}

}  // namespace
}  // namespace tranca::mutex_test
