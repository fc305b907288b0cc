// Nodes of a Cluster that are not well: what passes is waited out, harms nobody who needs another node, and leaves nothing.
#include <optional>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "mutex/passing_state.hpp"
#include "support/fault.hpp"
#include "support/faults.hpp"

namespace tranca::cluster_test {
namespace {

using testing::fault;

class ClusterStates : public cluster_fixture {
protected:
    ClusterStates() {
        for (std::size_t node = 0; node < cluster_set::masters; ++node)
            names.push_back(name_at(node, 40));
    }

    /// The node that serves the first name; those of the others are well all the time.
    [[nodiscard]] redis_server& sick() { return set.owner_of(slot_of_lock(names[0])); }

    /// Nobody else is harmed, several names are all or none, and a wait outlives it.
    void passes(fault state, errc reason) {
        mutex_test::passes(mutex{redis, names[0], lasting(20s)}, std::move(state), reason, [&] {
            EXPECT_TRUE(thrown_by([&] { static_cast<void>(multi_mutex(redis, names).try_acquire()); }));
            for (const auto& name : {names[1], names[2]})
                EXPECT_TRUE(mutex(redis, name).try_acquire()) << "left behind, or harmed";
        });
        EXPECT_TRUE(multi_mutex(redis, names).try_acquire_for(20s));
    }

    client redis{url};
    std::vector<std::string> names;
};

TEST_F(ClusterStates, OfOneNodeWithoutReplicasPasses) { passes(testing::no_replicas(sick()), errc::no_replicas); }
TEST_F(ClusterStates, OfOneNodeBusyWithAScriptPasses) { passes(testing::busy_script(sick()), errc::busy_script); }
TEST_F(ClusterStates, OfOneNodeWithoutMemoryPasses) { passes(testing::out_of_memory(sick()), errc::out_of_memory); }
TEST_F(ClusterStates, OfOneNodeWithTooManyClientsPasses) {
    passes(testing::too_many_clients(sick()), errc::max_clients);
}

// Case N06: what needs no memory works.
TEST_F(ClusterStates, OfOneNodeWithoutMemoryIsNothingToAHolder) {
    auto held = mutex{redis, names[0], {.lease = renewed_often()}}.acquire();
    const auto state = testing::out_of_memory(sick());
    const auto then = held.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return held.safe_until() > then + some_renewals; }));
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
}

// Case N12: a master that is back, empty, before anybody takes it for dead. Its holder is told, a wait goes on, the fence grows;
// nobody else notices.
TEST_F(ClusterStates, OfOneNodeThatRestartsHarmsNobodyElse) {
    const mutex lock{redis, names[0], {.lease = renewed_often()}};
    auto held = lock.acquire();
    const auto lost = held.lost();
    auto apart = mutex{redis, names[1], {.lease = renewed_often()}}.acquire();
    std::optional<guard> next;
    std::jthread waiter{[&] { next = mutex{client{url}, names[0], lasting(20s)}.try_acquire_for(30s); }};
    EXPECT_TRUE(eventually(10s, [&] { return sick().raw().info("blocked_clients") == "1"; }));
    testing::restart_without_persistence(sick());
    EXPECT_TRUE(eventually(10s, [&] { return lost.stop_requested(); }));
    waiter.join();
    ASSERT_TRUE(next);
    EXPECT_GT(*next->fence(), *held.fence());
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(next->release(), release_result::released);
    EXPECT_EQ(apart.release(), release_result::released);
    EXPECT_TRUE(lock.try_acquire());
}

// Case R02: what was taken beside a silent one is given back, and so is what the silent one grants when it wakes.
TEST_F(ClusterStates, OfOneSilentNodeLeaveNothingOfSeveralNames) {
    const client hasty{set.url() + "?command_timeout=300ms&connect_timeout=300ms"};
    multi_options options;
    options.lease.ttl = 30s;
    const multi_mutex all{hasty, names, options};
    std::vector<redis_server*> nodes;
    for (const auto& name : names)
        nodes.push_back(&set.owner_of(slot_of_lock(name)));
    const auto is_left = [&](std::size_t i) { return nodes[i]->raw().exists("lock:" + names[i]) != 0; };
    for (std::size_t silent = 0; silent < names.size(); ++silent) {
        EXPECT_TRUE(all.try_acquire_for(10s));
        auto state = testing::frozen(*nodes[silent]);
        const auto failure = thrown_by([&] { static_cast<void>(all.try_acquire()); });
        ASSERT_TRUE(failure);
        EXPECT_TRUE(failure->in_doubt()) << failure->what();
        for (std::size_t i = 0; i < names.size(); ++i)
            EXPECT_FALSE(i != silent && is_left(i)) << names[i];
        state.end();
        EXPECT_TRUE(eventually(5s, [&] { return !is_left(silent); }));
    }
}

// Case R03: the slow one grants when nothing is left of what the others granted.
TEST_F(ClusterStates, OfOneSlowNodeRefuseSeveralNamesThatCameTooLate) {
    const client patient{set.url() + "?command_timeout=10s"};
    multi_options options;
    options.lease = {.ttl = 500ms, .renew_every = 0ms};
    const multi_mutex all{patient, names, options};
    for (const auto& slow : {names[0], names[1]}) {
        EXPECT_TRUE(all.try_acquire());
        const auto state = testing::paused(set.owner_of(slot_of_lock(slow)), 700ms);
        const auto failure = thrown_by([&] { static_cast<void>(all.try_acquire()); });
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::timeout) << failure->what();
        EXPECT_FALSE(failure->in_doubt());
        for (const auto& name : names)
            EXPECT_EQ(exists("lock:" + name), 0) << name;
    }
}

// Case R06: nobody answers is not the same as somebody holds it, and ends in time.
TEST_F(ClusterStates, OfAllNodesSilentEndWithTheDeadline) {
    const client hasty{set.url() + "?command_timeout=200ms&connect_timeout=200ms"};
    const mutex lock{hasty, names[0], lasting(30s)};
    EXPECT_TRUE(lock.try_acquire());
    {
        std::vector<fault> silence;
        for (std::size_t i = 0; i < cluster_set::size; ++i)
            silence.push_back(testing::frozen(set.server(i)));
        const stopwatch since;
        EXPECT_TRUE(thrown_by([&] { static_cast<void>(lock.try_acquire_for(700ms)); }));
        EXPECT_GE(since.elapsed(), 700ms);
        EXPECT_LT(since.elapsed(), 4s);
    }
    EXPECT_TRUE(eventually(5s, [&] { return exists("lock:" + names[0]) == 0; }));
    EXPECT_TRUE(lock.try_acquire_for(10s));
}

}  // namespace
}  // namespace tranca::cluster_test
