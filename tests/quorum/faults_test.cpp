// What one of several nodes costs that is dead, refuses, hangs, is slow, or comes back.
#include "support/faults.hpp"
#include "quorum/quorum_fixture.hpp"
#include "support/deaf_listener.hpp"
#include "support/fake_server.hpp"
#include "support/fault.hpp"

namespace tranca::quorum_test {
namespace {

class Faults : public quorum_fixture {
protected:
    /// Acquires and releases `times` times, as another process would: with nothing at rest. The longest time it took.
    static milliseconds longest_cycle(const voters& mine, int times, const quorum_options& options = by_hand(10s, 3s)) {
        milliseconds longest{0};
        const auto lock = mine.lock(options);
        for (int i = 0; i < times; ++i) {
            const stopwatch since_start;
            auto held = lock.try_acquire();
            EXPECT_EQ(held ? held->release() : release_result::unknown, release_result::released);
            longest = std::max(longest, since_start.elapsed_ms());
        }
        return longest;
    }

    static constexpr milliseconds short_time = 1s;  // against a time limit of three
};

TEST_F(Faults, ADeadNodeCostsItsVote) {
    const voters mine{urls(3)};
    EXPECT_LT(longest_cycle(mine, 3), short_time);
    node(0).kill_hard();
    EXPECT_LT(longest_cycle(mine, 20), short_time);
    const voters later{urls(3)};
    EXPECT_LT(longest_cycle(later, 3), short_time);
}

TEST_F(Faults, AFrozenNodeCostsItsVote) {
    const voters mine{urls(3)};
    EXPECT_LT(longest_cycle(mine, 3), short_time);
    node(0).freeze();
    EXPECT_LT(longest_cycle(mine, 20), short_time);
    const voters later{urls(3)};
    EXPECT_LT(longest_cycle(later, 3), short_time);
    node(0).resume();
    EXPECT_TRUE(eventually(patience, [&] { return !exists(0); }));
}

TEST_F(Faults, ANodeThatCannotBeConnectedToCostsItsVote) {
    const testing::deaf_listener nobody;
    const voters mine{{node(0).url(), nobody.url(), node(1).url()}};
    EXPECT_LT(longest_cycle(mine, 20), short_time);
}

TEST_F(Faults, ASlowNodeCostsItsVote) {
    tcp_gate gate{node(0).tcp()};
    const voters mine{{gate.url(), node(1).url(), node(2).url()}};
    EXPECT_LT(longest_cycle(mine, 3), short_time);
    gate.delay_replies(400ms);
    EXPECT_LT(longest_cycle(mine, 20), 350ms);
    gate.pass();
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
}

TEST_F(Faults, ANodeThatRefusesConnectionsCostsItsVote) {
    tcp_gate gate{node(0).tcp()};
    gate.refuse_connections();
    const voters mine{{gate.url(), node(1).url(), node(2).url()}};
    EXPECT_LT(longest_cycle(mine, 20), short_time);
}

TEST_F(Faults, ANodeThatRefusesCommandsCostsItsVote) {
    const auto without_password = urls(3);
    const auto costs_its_vote = [&](const std::string& how) {
        const voters mine{without_password};
        EXPECT_LT(longest_cycle(mine, 5), short_time) << how;
    };
    node(0).must({"CONFIG", "SET", "maxmemory", "1"});
    costs_its_vote("OOM");
    node(0).must({"CONFIG", "SET", "maxmemory", "0"});
    node(0).must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    costs_its_vote("NOREPLICAS");
    node(0).must({"CONFIG", "SET", "min-replicas-to-write", "0"});
    node(0).must({"ACL", "SETUSER", "default", "-evalsha", "-eval"});
    costs_its_vote("NOPERM");
    node(0).must({"ACL", "SETUSER", "default", "+@all"});
    const auto costs_it_while = [&](const testing::fault& state, const std::string& how) {
        static_cast<void>(state);
        costs_its_vote(how);
    };
    costs_it_while(testing::password_required(node(0), "secret"), "NOAUTH");
    costs_it_while(testing::too_many_clients(node(0)), "max number of clients");
    costs_it_while(testing::busy_script(node(0)), "BUSY");
    costs_it_while(testing::loading(node(0)), "LOADING");
}

TEST_F(Faults, ANodeThatTalksNonsenseCostsItsVote) {
    const testing::fake_server liar{testing::always("HTTP/1.1 400 Bad Request\r\n\r\n")};
    const voters mine{{liar.url(), node(1).url(), node(2).url()}};
    EXPECT_LT(longest_cycle(mine, 20), short_time);
    const testing::fake_server parrot{testing::always("*2\r\n:1\r\n:1\r\n")};
    const voters others{{parrot.url(), node(1).url(), node(2).url()}};
    EXPECT_LT(longest_cycle(others, 20), short_time);
}

// Where the others do not decide, a node that hangs costs the time limit, and once: then it is known.
TEST_F(Faults, AHungNodeIsWaitedForOnce) {
    const voters mine{urls(3)};
    EXPECT_LT(longest_cycle(mine, 3), short_time);
    occupy(0);
    node(2).freeze();
    const stopwatch since_start;
    for (int i = 0; i < 10; ++i)
        EXPECT_FALSE(mine.lock(by_hand(10s, 300ms)).try_acquire());
    EXPECT_LT(since_start.elapsed(), 10 * 300ms / 2);
    node(2).resume();
}

TEST_F(Faults, ANodeThatReturnsVotesAgain) {
    const voters mine{urls(3)};
    EXPECT_LT(longest_cycle(mine, 3), short_time);
    node(0).kill_hard();
    EXPECT_LT(longest_cycle(mine, 3), short_time);
    node(0).start_again();
    node(1).kill_hard();  // now it is needed
    EXPECT_TRUE(eventually(1s, [&] {
        try {
            return mine.lock().try_acquire().has_value();
        } catch (const error&) {
            return false;
        }
    }));
    EXPECT_LT(longest_cycle(mine, 5), short_time);
}

TEST_F(Faults, EachNodeMayRestartInTurn) {
    const voters mine{urls(3)};
    for (std::size_t i = 0; i < 3; ++i) {
        node(i).restart();
        EXPECT_LT(longest_cycle(mine, 5), short_time) << i;
    }
    for (std::size_t i = 0; i < 3; ++i)
        node(i).restart();
    EXPECT_LT(longest_cycle(mine, 1), short_time);  // all connections at rest are dead
}

// A majority that cannot be asked is a failure, not "busy", and it says why.
TEST_F(Faults, WithoutAMajorityIsAnErrorThatNamesThem) {
    const voters mine{urls(3)};
    node(0).kill_hard();
    node(1).kill_hard();
    const auto failure = thrown_by([&] { static_cast<void>(mine.lock().try_acquire_for(1s)); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::connect_failed);
    EXPECT_FALSE(failure->in_doubt());
    EXPECT_THAT(failure->what(), ::testing::HasSubstr(std::to_string(node(0).port())));
    EXPECT_THAT(failure->what(), ::testing::ContainsRegex("[23] of 3 nodes gave no answer"));
    EXPECT_TRUE(eventually(1s, [&] { return !exists(2); }));
}

TEST_F(Faults, AFrozenMajorityEndsWithinTwoTimeLimits) {
    const voters mine{urls(3)};
    EXPECT_LT(longest_cycle(mine, 3), short_time);
    node(0).freeze();
    node(1).freeze();
    const stopwatch since_start;
    const auto failure = thrown_by([&] { static_cast<void>(mine.lock().try_acquire()); });
    EXPECT_LT(since_start.elapsed(), 2 * 300ms + 900ms);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_TRUE(failure->in_doubt());
    node(0).resume();
    node(1).resume();
    EXPECT_TRUE(eventually(1s, [&] { return holding(3) == 0; }));  // the undoing stood behind the asking
}

TEST_F(Faults, ATemporaryStateIsWaitedOut) {
    const voters mine{urls(3)};
    for (std::size_t i : {0u, 1u})
        node(i).must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    const auto failure = thrown_by([&] { static_cast<void>(mine.lock().try_acquire_for(100ms)); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::no_replicas);
    for (std::size_t i : {0u, 1u})
        node(i).must({"CONFIG", "SET", "min-replicas-to-write", "0"});
    EXPECT_TRUE(mine.lock().try_acquire_for(1s));
}

TEST_F(Faults, AnUnknownScriptIsSentWhole) {
    const voters mine{urls(3)};
    const auto lock = mine.lock();
    { const auto held = lock.acquire(); }
    node(2).kill_hard();  // so that both of the others are needed
    for (std::size_t i = 0; i < 4; ++i) {
        node(i % 2).must({"SCRIPT", "FLUSH"});
        auto held = lock.acquire();
        EXPECT_EQ(holding(2), 2u);
        node(i % 2).must({"SCRIPT", "FLUSH"});
        EXPECT_TRUE(held.extend());
        node(i % 2).must({"SCRIPT", "FLUSH"});
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_EQ(holding(2), 0u);
    }
}

// A lost answer is asked for again with the same token, and is never "busy".
TEST_F(Faults, ALostAnswerIsAskedForAgain) {
    const gates_before gates{3};
    const voters mine{gates.urls()};
    static_cast<void>(held_on_all(mine.lock(), 3).release());  // connected, and the scripts known
    ASSERT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
    for (const auto& gate : gates)
        gate->swallow_reply("EVALSHA");
    auto held = mine.lock().try_acquire();
    ASSERT_TRUE(held);
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 3; }));
    EXPECT_EQ(held->release(), release_result::released);
}

// What was granted there is given back as soon as they can be reached again.
TEST_F(Faults, ThatCutOffAGrantLeaveNoGhost) {
    const gates_before all{3};
    const voters mine{all.urls()};
    const auto lock = mine.lock(by_hand(30s));
    { const auto warm = held_on_all(lock, 3); }
    ASSERT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
    all.cut_off_after("^EVALSHA [0-9a-f]{40} 2 ");
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(lock.try_acquire()); }));
    EXPECT_GT(holding(3), 0u);
    all.mend();
    EXPECT_TRUE(eventually(5s, [&] { return holding(3) == 0; }));
}

}  // namespace
}  // namespace tranca::quorum_test
