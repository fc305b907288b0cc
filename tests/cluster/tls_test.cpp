// TLS to every node of a Cluster, also to those that were learnt from others.
#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "support/child_process.hpp"
#include "support/tls_certificates.hpp"

namespace tranca::cluster_test {
namespace {

using ::testing::HasSubstr;

const testing::tls_certificates& certificates() {
    static const testing::tls_certificates made;
    return made;
}

cluster_set& guarded_set() {
    static cluster_set made{6s, &certificates()};
    return made;
}

class ClusterTls : public cluster_fixture {
protected:
    ClusterTls() : cluster_fixture{guarded_set()} {
        for (std::size_t node = 0; node < cluster_set::masters; ++node)
            names.push_back(name_at(node));
    }

    [[nodiscard]] bool leads_to_tls(const std::string& name) {
        const auto where = redis.server("lock:" + name);
        return where.kind == endpoint::transport::tls && where.port == set.owner_of(slot_of_lock(name)).tls().port;
    }

    const std::string trusting = "?ca_file=" + certificates().ca().native();
    client redis{set.tls_url() + trusting};
    std::vector<std::string> names;
};

TEST_F(ClusterTls, IsSpokenWithEveryNode) {
    for (const auto& name : names) {
        const mutex lock{redis, name};
        auto held = lock.try_acquire();
        ASSERT_TRUE(held);
        EXPECT_TRUE(held->extend());
        EXPECT_FALSE(lock.try_acquire());
        EXPECT_EQ(held->release(), release_result::released);
        EXPECT_TRUE(leads_to_tls(name)) << name;
    }
    EXPECT_TRUE(multi_mutex(redis, names).try_acquire());
}

TEST_F(ClusterTls, IsSpokenWithANodeToWhichASlotMoved) {
    auto held = mutex{redis, names[0], {.lease = renewed_often()}}.acquire();
    move_elsewhere(slot_of_lock(names[0]));
    EXPECT_TRUE(held.extend());  // after a MOVED that names the other port
    EXPECT_TRUE(leads_to_tls(names[0]));
    const auto then = held.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return held.safe_until() > then + some_renewals; }));
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(ClusterTls, WakesWhoWaits) {
    const client other{set.tls_url() + trusting};
    auto held = mutex{redis, names[1], lasting(20s)}.acquire();
    std::optional<guard> got;
    std::jthread waiter{[&] { got = mutex{other, names[1], lasting(20s)}.try_acquire_for(20s); }};
    auto& owner = set.owner_of(slot_of_lock(names[1]));
    EXPECT_TRUE(eventually(10s, [&] { return owner.raw().info("blocked_clients") == "1"; }));
    EXPECT_EQ(held.release(), release_result::released);
    waiter.join();
    ASSERT_TRUE(got);
    EXPECT_GT(*got->fence(), *held.fence());
}

TEST_F(ClusterTls, RefusesNodesItHasNoReasonToTrust) {
    const client stranger{set.tls_url() + "?ca_file=" + certificates().unrelated_ca().native()};
    const auto failure = thrown_by([&] { static_cast<void>(mutex(stranger, names[0]).try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::tls_failed) << failure->what();
    EXPECT_THAT(failure->what(), HasSubstr("certificate"));
}

// Not even the closing message of TLS is sent by a child: it would end its parent's session.
TEST_F(ClusterTls, IsAChildsOwnAfterAFork) {
    std::vector<guard> held;
    for (const auto& name : names)
        held.push_back(mutex{redis, name, {.lease = renewed_often()}}.acquire());
    testing::child_process child{[&] {
        held.clear();
        for (const auto& name : names)
            EXPECT_FALSE(mutex(redis, name).try_acquire());
        const client gone = std::move(redis);
    }};
    EXPECT_EQ(child.wait(20s), testing::exited(0));
    for (auto& each : held)
        EXPECT_EQ(each.release(), release_result::released);
}

}  // namespace
}  // namespace tranca::cluster_test
