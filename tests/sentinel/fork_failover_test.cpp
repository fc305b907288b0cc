// A child and its parent, with one client: each follows a failover by itself.
#include "sentinel/sentinel_fixture.hpp"
#include "support/child_process.hpp"
#include "support/process_barrier.hpp"
#include "support/shared_memory.hpp"

namespace tranca::sentinel_test {
namespace {

using FailoverAfterFork = sentinel_fixture;

TEST_F(FailoverAfterFork, IsFollowedByChildAndParent) {
    client redis{url};
    mutex_options options;
    options.lease.ttl = 12s;
    const auto old = set.master_port();
    auto held = mutex{redis, "of the parent", options}.acquire();
    const testing::shared_memory<testing::process_barrier> ready{2U};
    const auto is_renewed = [](const guard& mine) {
        const auto first = mine.safe_until();
        return eventually(20s, [&] { return mine.safe_until() > first + 1s; }) && mine;
    };
    testing::child_process child{[&] {
        auto mine = mutex{redis, "of the child", options}.acquire();
        ASSERT_TRUE(ready->wait(20s));  // replicated from here on
        ASSERT_TRUE(ready->wait(60s));  // another master is there
        EXPECT_TRUE(is_renewed(mine));
        EXPECT_NE(redis.server().port, old);
        EXPECT_EQ(mine.release(), release_result::released);
    }};
    ASSERT_TRUE(ready->wait(20s));
    set.wait_in_sync();
    set.server_at(old).kill_hard();
    set.wait_for_another_master(old);
    ASSERT_TRUE(ready->wait(60s));
    EXPECT_TRUE(is_renewed(held));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(child.wait(60s), testing::exited(0));
}

}  // namespace
}  // namespace tranca::sentinel_test
