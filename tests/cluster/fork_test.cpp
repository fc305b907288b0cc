// A child of a process that uses a Cluster: a map of slots and connections of its own, whatever its parent was doing, and
// nothing done to what its parent has.
#include <algorithm>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "support/child_process.hpp"
#include "support/process_barrier.hpp"
#include "support/shared_memory.hpp"

namespace tranca::cluster_test {
namespace {

using testing::child_process;
using testing::exited;

class ClusterFork : public cluster_fixture {
protected:
    ClusterFork() {
        for (std::size_t node = 0; node < cluster_set::masters; ++node) {
            names.push_back(name_at(node, 20));
            others.push_back(name_at(node, 21));
        }
    }

    /// One for each name, and so to each node.
    [[nodiscard]] std::vector<std::int64_t> connections() const {
        std::vector<std::int64_t> ids;
        for (const auto& name : names)
            ids.push_back(redis.pool()->borrow("lock:" + name)->command(request{"CLIENT", "ID"}).integer());
        return ids;
    }

    [[nodiscard]] std::int64_t waiting_for(const std::string& name) {
        return std::stoll(set.owner_of(slot_of_lock(name)).raw().info("blocked_clients"));
    }

    client redis{url};
    std::vector<std::string> names;
    std::vector<std::string> others;
};

TEST_F(ClusterFork, GivesTheChildConnectionsOfItsOwnToEveryNode) {
    const auto of_parent = connections();
    for (int i = 0; i < 3; ++i) {
        child_process child{[&] {
            const auto of_child = connections();
            for (std::size_t node = 0; node < names.size(); ++node)
                EXPECT_NE(of_child[node], of_parent[node]);
            EXPECT_EQ(connections(), of_child);
            for (const auto& name : others)
                EXPECT_TRUE(mutex(redis, name).try_acquire());
            EXPECT_TRUE(multi_mutex(redis, others).try_acquire());
        }};
        EXPECT_EQ(child.wait(20s), exited(0));
        EXPECT_EQ(connections(), of_parent);
    }
}

TEST_F(ClusterFork, LeavesTheParentWhatItHolds) {
    std::vector<guard> held;
    for (const auto& name : names)
        held.push_back(mutex{redis, name, {.lease = renewed_often()}}.acquire());
    held.push_back(multi_mutex{redis, others, {.lease = renewed_often()}}.acquire());
    held.push_back(semaphore{redis, names[2], 1, {.lease = renewed_often()}}.acquire());
    child_process child{[&] {
        for (auto& each : held) {
            EXPECT_FALSE(each);
            EXPECT_FALSE(each.extend());
            EXPECT_NE(each.release(), release_result::released);
        }
        held.clear();
        for (const auto& name : names)
            EXPECT_FALSE(mutex(redis, name).try_acquire());
        EXPECT_FALSE(multi_mutex(redis, others).try_acquire());
        EXPECT_FALSE(semaphore(redis, names[2], 1).try_acquire());
    }};
    EXPECT_EQ(child.wait(20s), exited(0));
    const auto then = clock::now();
    for (auto& each : held) {
        EXPECT_TRUE(eventually(5s, [&] { return each.safe_until() > then + renewed_often().ttl - some_renewals; }));
        EXPECT_TRUE(each);
        EXPECT_EQ(each.release(), release_result::released);
    }
}

TEST_F(ClusterFork, LetsTheChildWaitForItsParent) {
    for (const auto& name : names) {
        auto held = mutex{redis, name, lasting(20s)}.acquire();
        child_process child{[&] {
            auto got = mutex{redis, name, lasting(20s)}.try_acquire_for(20s);
            ASSERT_TRUE(got);
            EXPECT_TRUE(got->extend());
        }};
        EXPECT_TRUE(eventually(10s, [&] { return waiting_for(name) == 1; }));
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_EQ(child.wait(20s), exited(0));
        EXPECT_TRUE(mutex(redis, name).try_acquire());
    }
}

// One of them is hardly ever outside the router's lock, one asks for the map, one takes connections and gives them back.
TEST_F(ClusterFork, OfAProcessWhoseThreadsAreBusyWorks) {
    std::vector<std::jthread> crew;
    const auto busy_with = [&](const auto& what) {
        crew.emplace_back([what](const std::stop_token& stop) {
            while (!stop.stop_requested())
                what();
        });
    };
    busy_with([&] { redis.pool()->doubt_map(); });
    busy_with([&] { static_cast<void>(redis.pool()->masters()); });
    busy_with([&] { static_cast<void>(mutex(redis, names[0]).try_acquire()); });
    for (int i = 0; i < 20; ++i) {
        child_process child{[&] {
            EXPECT_TRUE(redis.server("lock:" + names[0]).host.empty());  // it has no map yet
            for (const auto& name : others)
                EXPECT_TRUE(mutex(redis, name).try_acquire());
        }};
        ASSERT_EQ(child.wait(20s), exited(0));
    }
}

TEST_F(ClusterFork, LetsEachFollowASlotThatMoves) {
    const mutex lock{redis, names[0]};
    EXPECT_TRUE(lock.try_acquire());
    const testing::shared_memory<testing::process_barrier> moved{2U};
    const testing::shared_memory<testing::process_barrier> known{2U};
    child_process child{[&] {
        auto held = lock.acquire();
        ASSERT_TRUE(known->wait(20s));
        ASSERT_TRUE(moved->wait(20s));
        EXPECT_TRUE(held.extend());
        EXPECT_EQ(held.release(), release_result::released);
    }};
    ASSERT_TRUE(known->wait(20s));
    move_elsewhere(slot_of_lock(names[0]));
    EXPECT_FALSE(lock.try_acquire());
    ASSERT_TRUE(moved->wait(20s));
    EXPECT_EQ(child.wait(20s), exited(0));
    EXPECT_TRUE(lock.try_acquire());
    EXPECT_EQ(redis.server("lock:" + names[0]).port, set.owner_of(slot_of_lock(names[0])).port());
}

}  // namespace
}  // namespace tranca::cluster_test
