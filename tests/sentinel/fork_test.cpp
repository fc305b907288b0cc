// A child of a process that finds its master by Sentinel: it finds the master by itself, and does nothing to what its parent has.
#include <optional>
#include <thread>

#include "sentinel/sentinel_fixture.hpp"
#include "support/child_process.hpp"
#include "support/fake_server.hpp"

namespace tranca::sentinel_test {
namespace {

using testing::child_process;
using testing::exited;

class SentinelFork : public sentinel_fixture {
protected:
    [[nodiscard]] std::int64_t connection_now() { return redis.command("CLIENT", "ID").integer(); }

    client redis{url};
};

TEST_F(SentinelFork, LeavesTheParentWhatItHolds) {
    mutex_options options;
    options.lease = {.ttl = 5s, .renew_every = 100ms};
    auto held = mutex{redis, "thing", options}.acquire();
    const auto of_parent = connection_now();
    child_process child{[&] {
        EXPECT_FALSE(held);
        EXPECT_FALSE(held.extend());
        EXPECT_NE(held.release(), release_result::released);
        EXPECT_NE(connection_now(), of_parent);
        EXPECT_FALSE(mutex(redis, "thing").try_acquire());
        EXPECT_TRUE(mutex(redis, "other").try_acquire());
    }};
    EXPECT_EQ(child.wait(20s), exited(0));
    const auto then = held.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return held.safe_until() > then + 200ms; }));
    EXPECT_EQ(connection_now(), of_parent);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(SentinelFork, LetsTheChildWaitForItsParent) {
    auto held = mutex{redis, "thing"}.acquire();
    child_process child{[&] {
        auto got = mutex{redis, "thing"}.try_acquire_for(20s);
        ASSERT_TRUE(got);
        EXPECT_TRUE(got->extend());
    }};
    auto master = set.master().raw();
    EXPECT_TRUE(eventually(10s, [&] { return master.info("blocked_clients") == "1"; }));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(child.wait(20s), exited(0));
}

// Its parent's thread waits for a sentinel that says nothing; the child has one that answers.
TEST_F(SentinelFork, DoesNotMakeTheChildWaitForASearchOfItsParent) {
    auto sentinel = std::make_optional<testing::fake_server>(testing::never_answering());
    auto where = one_sentinel(sentinel->where().port);
    where.sentinel_timeout = 60s;
    client searching{where};
    std::optional<error> failure;
    std::jthread thread{[&] { failure = thrown_by([&] { searching.command("PING"); }); }};
    ASSERT_TRUE(eventually(10s, [&] { return !sentinel->commands().empty(); }));
    sentinel->answer_with(testing::always(naming(set.master_port())));
    child_process child{[&] { EXPECT_EQ(searching.command("PING").text(), "PONG"); }};
    EXPECT_EQ(child.wait(20s), exited(0));
    sentinel.reset();
    thread.join();
    EXPECT_TRUE(failure);
}

}  // namespace
}  // namespace tranca::sentinel_test
