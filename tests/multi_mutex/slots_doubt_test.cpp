// Names in several slots of a Cluster, where what takes them and what gives them back gets no answer: a client that knows of
// the Cluster, and a gate that the only node names as its own address.
#include <algorithm>

#include "multi_mutex/multi_fixture.hpp"
#include "support/faults.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::multi_test {
namespace {

/// The script about this lock alone that has so many keys.
[[nodiscard]] testing::command_match about(const std::string& name, const std::string& how, const std::string& keys) {
    return {[=](const testing::seen_command& seen) {
        const auto& words = seen.arguments;
        return words.size() > 3 && words[0] == how && words[2] == keys && words[3] == "lock:" + name;
    }};
}
[[nodiscard]] testing::command_match asking_for(const std::string& name) { return about(name, "EVALSHA", "4"); }
[[nodiscard]] testing::command_match undoing(const std::string& name) { return about(name, "EVAL", "3"); }

class SlotsDoubt : public ::testing::Test {
protected:
    static void SetUpTestSuite() { node = testing::single_node_cluster(); }  // takes some seconds
    static void TearDownTestSuite() { node.reset(); }
    void SetUp() override {
        raw.flush();
        raw.must({"CONFIG", "SET", "cluster-announce-port", std::to_string(gate.where().port)});
        auto held = all().acquire();
        ASSERT_TRUE(held.extend());
    }

    [[nodiscard]] multi_mutex all() const { return {redis, {"a", "b", "c"}, lasting(30s)}; }
    [[nodiscard]] bool exists(const std::string& name) { return raw.exists("lock:" + name) == 1; }

    static inline std::unique_ptr<testing::redis_server> node;
    raw_client raw{node->raw()};
    testing::tcp_gate gate{node->tcp()};
    client redis{"redis-cluster://127.0.0.1:" + std::to_string(gate.where().port) + "?command_timeout=200ms"};
    const std::vector<std::string> in_order = [] {
        std::vector<std::string> names{"a", "b", "c"};
        std::ranges::sort(names, {}, [](const std::string& name) { return hash_slot("lock:" + name); });
        return names;
    }();
};

// What undoes an attempt may come late: nothing is held by its token then.
TEST_F(SlotsDoubt, OfAnAttemptHarmsNoLaterOne) {
    gate.hold(asking_for(in_order[1]));
    const auto undo = gate.hold(undoing(in_order[1]));
    auto held = all().try_acquire_for(10s);
    ASSERT_TRUE(held);
    ASSERT_TRUE(gate.wait_until_held(0ms, undo));
    gate.let_go(undo);
    EXPECT_TRUE(throughout(300ms, [&] { return exists(in_order[1]); })) << "held without a key";
    EXPECT_TRUE(held->extend());
}

// Nor may what tries the rights of an account.
TEST_F(SlotsDoubt, OfTheRightsHarmsNoAttempt) {
    const client fresh{"redis-cluster://127.0.0.1:" + std::to_string(gate.where().port) + "?command_timeout=200ms"};
    const auto trial = gate.hold(about(in_order[0], "EVALSHA", "3"));
    auto held = multi_mutex{fresh, {"a", "b", "c"}, lasting(30s)}.try_acquire_for(10s);
    ASSERT_TRUE(held);
    ASSERT_TRUE(gate.wait_until_held(0ms, trial));
    gate.let_go(trial);
    EXPECT_TRUE(throughout(300ms, [&] { return exists(in_order[0]); })) << "held without a key";
    EXPECT_TRUE(held->extend());
}

// Sent again, one part finds nothing: that is what its first sending left.
TEST_F(SlotsDoubt, OfAReleaseIsSettled) {
    for (const auto& name : in_order) {
        auto held = all().acquire();
        gate.swallow_reply(about(name, "EVALSHA", "3"));
        EXPECT_EQ(held.release(), release_result::released);
        for (const auto& each : in_order)
            EXPECT_FALSE(exists(each));
    }
}

// What an earlier round was granted, and nobody heard of, is given back at the end.
TEST_F(SlotsDoubt, OfAnEarlierRoundLeavesNothing) {
    gate.hold_reply(asking_for(in_order[1]));
    gate.hold(undoing(in_order[1]));
    gate.hold(about(in_order[1], "EVALSHA", "3"));
    const auto failure = thrown_by([&] { EXPECT_FALSE(all().try_acquire_for(1s)); });
    // What gives it back has a short time, and is run also where that was over before it was answered.
    EXPECT_TRUE(!failure || failure->in_doubt()) << failure->what();
    EXPECT_TRUE(eventually(failure ? 2s : 0s, [&] { return !exists(in_order[1]); }));
}

// Where it cannot be, that is told, and not that others hold it.
TEST_F(SlotsDoubt, OfAnEarlierRoundIsNeverToldAsBusy) {
    gate.hold_reply(asking_for(in_order[1]));
    for (int i = 0; i < 50; ++i) {
        gate.hold(undoing(in_order[1]));
        gate.hold(about(in_order[1], "EVALSHA", "3"));
    }
    const auto failure = thrown_by([&] { EXPECT_FALSE(all().try_acquire_for(1s)); });
    ASSERT_TRUE(failure) << "busy";
    EXPECT_TRUE(failure->in_doubt()) << failure->what();
}

// A part that cannot be given back keeps none of the others.
TEST_F(SlotsDoubt, OfOnePartLeavesNoOther) {
    gate.hold(asking_for(in_order[2]));
    gate.hold(undoing(in_order[0]));
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(all().try_acquire()); }));
    EXPECT_TRUE(exists(in_order[0]));
    EXPECT_TRUE(eventually(2s, [&] { return !exists(in_order[1]) && !exists(in_order[2]); }));
}

}  // namespace
}  // namespace tranca::multi_test
