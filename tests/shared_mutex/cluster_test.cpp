// N02: every key of the lock stands in one slot, whatever its name.
#include <memory>

#include "shared_mutex/shared_fixture.hpp"
#include "support/faults.hpp"

namespace tranca::shared_mutex_test {
namespace {

TEST(SharedCluster, HoldsEveryKeyInOneSlot) {
    const auto node = testing::single_node_cluster();
    const client redis{node->url()};
    for (const std::string name : {"x", "a:b", "{x}", "a{b}c", "{user:7}:prices"}) {
        const shared_mutex lock{redis, name, lasting(10s)};
        auto held = lock.shared().acquire();
        EXPECT_FALSE(lock.try_acquire_for(20ms)) << name;
        EXPECT_EQ(lock.try_upgrade(held), upgrade_result::upgraded) << name;
        EXPECT_FALSE(lock.shared().try_acquire_for(20ms)) << name;
        EXPECT_TRUE(lock.downgrade(held)) << name;
        EXPECT_EQ(lock.holders().size(), 1u) << name;
        EXPECT_TRUE(held.extend()) << name;
        EXPECT_EQ(held.release(), release_result::released) << name;
    }
}

}  // namespace
}  // namespace tranca::shared_mutex_test
