// Every primitive, with names that live at every node.
#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"

namespace tranca::cluster_test {
namespace {

class ClusterPrimitives : public cluster_fixture {
protected:
    client redis{url};
};

TEST_F(ClusterPrimitives, MutexWorksAtEveryNode) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const mutex lock{redis, name_at(node)};
        auto held = lock.try_acquire();
        ASSERT_TRUE(held) << node;
        EXPECT_TRUE(held->fence());
        EXPECT_FALSE(lock.try_acquire());
        EXPECT_TRUE(lock.inspect().held);
        EXPECT_TRUE(held->extend());
        EXPECT_EQ(held->release(), release_result::released);
        EXPECT_FALSE(lock.inspect().held);
        auto again = lock.acquire();
        EXPECT_TRUE(lock.force_release());
        EXPECT_EQ(again.release(), release_result::expired);
    }
}

TEST_F(ClusterPrimitives, OneSeedLeadsToAllNodes) {
    for (std::size_t seed = 0; seed < cluster_set::size; ++seed) {
        client narrow{"redis-cluster://" + set.server(seed).tcp().text()};
        for (std::size_t node = 0; node < cluster_set::masters; ++node)
            EXPECT_TRUE(mutex(narrow, name_at(node)).try_acquire()) << seed << " " << node;
    }
}

TEST_F(ClusterPrimitives, AWaitIsWokenAtEveryNode) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const mutex lock{redis, name_at(node), lasting(20s)};
        client other{url};
        const mutex same{other, name_at(node), lasting(20s)};
        auto held = lock.acquire();
        std::optional<guard> got;
        std::jthread waiter{[&] { got = same.try_acquire_for(20s); }};
        EXPECT_TRUE(eventually(
            5s, [&] { return set.owner_of(slot_of_lock(name_at(node))).raw().info("blocked_clients") == "1"; }));
        const stopwatch since;
        held.release();
        waiter.join();
        ASSERT_TRUE(got);
        EXPECT_LT(since.elapsed(), 800ms);  // woken, not by the end of a slice
        EXPECT_GT(*got->fence(), *held.fence());
    }
}

TEST_F(ClusterPrimitives, AStopEndsAWaitAtEveryNode) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const auto name = name_at(node);
        auto held = mutex{redis, name, lasting(20s)}.acquire();
        client other{url};
        std::stop_source stop;
        std::optional<guard> got;
        std::jthread waiter{[&] { got = mutex{other, name, lasting(20s)}.try_acquire_for(20s, stop.get_token()); }};
        EXPECT_TRUE(
            eventually(5s, [&] { return set.owner_of(slot_of_lock(name)).raw().info("blocked_clients") == "1"; }));
        const stopwatch since;
        stop.request_stop();
        waiter.join();
        EXPECT_FALSE(got);
        EXPECT_LT(since.elapsed(), 300ms);
    }
}

TEST_F(ClusterPrimitives, SemaphoreCountsAtEveryNode) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const semaphore places{redis, name_at(node, 0, "semaphore:"), 2};
        auto one = places.try_acquire();
        auto two = places.try_acquire();
        EXPECT_TRUE(one && two);
        EXPECT_FALSE(places.try_acquire());
        EXPECT_EQ(places.available(), 0);
        EXPECT_TRUE(one->extend());
        EXPECT_EQ(one->release(), release_result::released);
        EXPECT_TRUE(places.try_acquire());
    }
}

TEST_F(ClusterPrimitives, SharedMutexSharesAtEveryNode) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const shared_mutex book{redis, name_at(node)};
        auto one = book.shared().try_acquire();
        auto two = book.shared().try_acquire();
        EXPECT_TRUE(one && two);
        EXPECT_FALSE(book.try_acquire());
        one->release();
        two->release();
        auto writer = book.try_acquire();
        ASSERT_TRUE(writer);
        EXPECT_FALSE(book.shared().try_acquire());
    }
}

TEST_F(ClusterPrimitives, FairMutexKeepsItsLine) {
    mutex_options options = lasting(20s);
    options.fairness = fairness::on;
    const auto name = name_at(1);
    const mutex lock{redis, name, options};
    auto held = lock.acquire();
    std::optional<guard> got;
    std::jthread waiter{[&] { got = lock.try_acquire_for(20s); }};
    EXPECT_TRUE(eventually(5s, [&] { return set.owner_of(slot_of_lock(name)).raw().info("blocked_clients") == "1"; }));
    held.release();
    waiter.join();
    EXPECT_TRUE(got);
}

TEST_F(ClusterPrimitives, MultiMutexIsKnownToAReplicaOfEachNode) {
    multi_options options;
    options.lease.ttl = 30s;
    options.replicas = {.count = 1, .within = 10s};
    const std::vector<std::string> names{name_at(0), name_at(1), name_at(2)};
    auto held = multi_mutex{redis, names, options}.acquire();
    EXPECT_EQ(held.replicas(), 1);
    EXPECT_EQ(held.release(), release_result::released);
    options.replicas = {.count = 2, .within = 50ms};  // each has one
    const auto failure = thrown_by([&] { static_cast<void>(multi_mutex{redis, names, options}.try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::too_few_replicas);
    EXPECT_TRUE(multi_mutex(redis, names).try_acquire());
}

TEST_F(ClusterPrimitives, MultiMutexTakesNamesOfAllNodes) {
    const std::vector<std::string> names{name_at(0), name_at(1), name_at(2), name_at(0, 1)};
    const multi_mutex all{redis, names};
    auto held = all.try_acquire();
    ASSERT_TRUE(held);
    for (const auto& name : names)
        EXPECT_FALSE(mutex(redis, name).try_acquire()) << name;
    EXPECT_FALSE(all.try_acquire());
    EXPECT_TRUE(held->extend());
    EXPECT_TRUE(*held);
    EXPECT_EQ(held->release(), release_result::released);
    for (const auto& name : names)
        EXPECT_TRUE(mutex(redis, name).try_acquire()) << name;
}

TEST_F(ClusterPrimitives, MultiMutexWaitsForTheNameThatIsBusy) {
    const std::vector<std::string> names{name_at(0), name_at(1), name_at(2)};
    auto one = mutex{redis, names[1], lasting(20s)}.acquire();
    std::optional<guard> got;
    std::jthread waiter{[&] { got = multi_mutex{redis, names}.try_acquire_for(20s); }};
    EXPECT_TRUE(
        eventually(5s, [&] { return set.owner_of(slot_of_lock(names[1])).raw().info("blocked_clients") == "1"; }));
    EXPECT_TRUE(mutex(redis, names[0]).try_acquire());  // it holds nothing while it waits
    one.release();
    waiter.join();
    EXPECT_TRUE(got);
}

TEST_F(ClusterPrimitives, MultiMutexIsRenewedAtAllNodes) {
    const std::vector<std::string> names{name_at(0), name_at(1), name_at(2)};
    multi_options options;
    options.lease = renewed_often();
    auto held = multi_mutex{redis, names, options}.acquire();
    const auto first = held.safe_until();
    ASSERT_TRUE(eventually(5s, [&] { return held.safe_until() > first + some_renewals; }));
    for (const auto& name : names)
        EXPECT_EQ(exists("lock:" + name), 1) << name;
    // And is lost when one of them is.
    EXPECT_EQ(set.owner_of(slot_of_lock(names[2])).raw().del("lock:" + names[2]), 1);
    EXPECT_TRUE(eventually(5s, [&] { return held.lost().stop_requested(); }));
}

TEST_F(ClusterPrimitives, HoldersAreRenewedAtEveryNode) {
    std::vector<guard> held;
    std::vector<clock::time_point> first;
    for (std::size_t node = 0; node < cluster_set::masters; ++node)
        for (int salt = 0; salt < 4; ++salt) {
            held.push_back(mutex{redis, name_at(node, salt), {.lease = renewed_often()}}.acquire());
            first.push_back(held.back().safe_until());
        }
    EXPECT_TRUE(eventually(5s, [&] {
        for (std::size_t i = 0; i < held.size(); ++i)
            if (held[i].safe_until() < first[i] + some_renewals) return false;
        return true;
    }));
    EXPECT_TRUE(std::ranges::all_of(held, [](const guard& each) { return static_cast<bool>(each); }));
}

// Silent for less than it takes to be called dead.
TEST_F(ClusterPrimitives, ASilentNodeDelaysNobodyElsesRenewals) {
    auto& silent = set.server(set.master_indices()[0]);
    auto options = lasting(6s);
    options.lease.renew_every = 50ms;
    const client patient{set.url() + "?command_timeout=3s"};
    auto there = mutex{patient, name_at(0), options}.acquire();
    auto here = mutex{patient, name_at(1), lasting(1'500ms)}.acquire();
    const auto told = here.lost();
    const auto first = there.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return there.safe_until() > first; }));
    silent.freeze();
    const auto before = here.safe_until();
    EXPECT_TRUE(eventually(3s, [&] { return here.safe_until() > before + 1s || told.stop_requested(); }));
    silent.resume();
    EXPECT_FALSE(told.stop_requested());
    EXPECT_TRUE(here);
    const auto then = there.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return there.safe_until() > then; }));
}

TEST_F(ClusterPrimitives, FindLocksLooksAtEveryNode) {
    std::vector<guard> held;
    std::set<std::string> names;
    for (std::size_t node = 0; node < cluster_set::masters; ++node)
        for (int salt = 0; salt < 3; ++salt) {
            names.insert("lock:" + name_at(node, salt));
            held.push_back(mutex{redis, name_at(node, salt)}.acquire());
        }
    std::vector<std::string> found;
    for (const auto& each : find_locks(redis))
        found.push_back(each.name);
    EXPECT_THAT(found, ::testing::ElementsAreArray(names));  // sorted, each once
}

TEST_F(ClusterPrimitives, FencedResourcesLiveAnywhere) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const auto name = name_at(node, 7, "");
        EXPECT_TRUE(fenced_write(redis, name, 5, "five"));
        EXPECT_FALSE(fenced_write(redis, name, 4, "four"));
        EXPECT_EQ(fenced_read(redis, name, 6).value, "five");
    }
}

TEST_F(ClusterPrimitives, TheLadderClimbsAtEveryNode) {
    for (std::size_t node = 0; node < cluster_set::masters; ++node) {
        const auto tag = "{" + name_at(node, 3, "") + "}";
        const ladder::naive_lock naive{redis, tag + "a"};
        EXPECT_TRUE(naive.try_acquire());
        EXPECT_TRUE(naive.try_acquire());  // the first one has gone
        const ladder::timeout_lock timed{redis, tag + "b"};
        auto held = timed.try_acquire();
        EXPECT_TRUE(held);
        EXPECT_FALSE(timed.try_acquire());
        EXPECT_TRUE(ladder::px_lock(redis, tag + "c").try_acquire());
        const ladder::clock_semaphore by_clock{redis, "semaphore:" + tag, 1};
        auto first = by_clock.try_acquire();
        EXPECT_TRUE(first);
        EXPECT_FALSE(by_clock.try_acquire());
        const ladder::fair_semaphore fair{redis, "semaphore:fair" + tag, 1};
        auto second = fair.try_acquire();
        EXPECT_TRUE(second);
        EXPECT_FALSE(fair.try_acquire());
        EXPECT_TRUE(ladder::guarded_semaphore(redis, "semaphore:guarded" + tag, 1).try_acquire());
    }
}

TEST_F(ClusterPrimitives, AQuorumOfClustersIsRefused) {
    std::vector<client> nodes;
    nodes.emplace_back(url);
    const auto failure = thrown_by([&] { static_cast<void>(quorum_mutex{nodes, "thing"}); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), errc::invalid_argument);
    EXPECT_THAT(failure->text(), ::testing::HasSubstr("Cluster"));
}

}  // namespace
}  // namespace tranca::cluster_test
