// A master that is not well, and not dead to the sentinels: what passes is waited out where it is.
#include <optional>
#include <thread>

#include "mutex/passing_state.hpp"
#include "sentinel/sentinel_fixture.hpp"
#include "support/fake_server.hpp"
#include "support/fault.hpp"
#include "support/faults.hpp"

namespace tranca::sentinel_test {
namespace {

using testing::fault;
using testing::redis_server;

class SentinelStates : public sentinel_fixture {
protected:
    void SetUp() override {
        sentinel_fixture::SetUp();
        dead_after(std::chrono::minutes{1});
        port = set.master_port();
    }
    void TearDown() override { dead_after(300ms); }

    void dead_after(milliseconds silence) {
        for (std::size_t i = 0; i < sentinel_set::size; ++i)
            set.ask(i, {"SENTINEL", "SET", std::string{sentinel_set::name}, "down-after-milliseconds",
                        std::to_string(silence.count())});
    }

    void passes(fault (*begin)(redis_server&), errc reason) {
        const mutex lock{redis, "thing"};
        EXPECT_TRUE(lock.try_acquire());
        mutex_test::passes(lock, begin(set.server_at(port)), reason);
        EXPECT_EQ(redis.server().port, port);
    }

    [[nodiscard]] static fault full_of_clients(redis_server& server) {
        testing::kill_connections(server, "named-to-be-killed");
        return testing::too_many_clients(server);
    }

    std::uint16_t port = 0;
    client redis{url + "&client_name=named-to-be-killed"};
};

TEST_F(SentinelStates, WithoutReplicasPasses) { passes(testing::no_replicas, errc::no_replicas); }
TEST_F(SentinelStates, WithoutMemoryPasses) { passes(testing::out_of_memory, errc::out_of_memory); }
TEST_F(SentinelStates, LoadingPasses) { passes(testing::loading, errc::loading); }
TEST_F(SentinelStates, WithTooManyClientsPasses) { passes(full_of_clients, errc::max_clients); }

// Case N12: the master is back, empty, before the sentinels take it for dead.
TEST_F(SentinelStates, RestartedIsToldToTheHolder) {
    mutex_options options;
    options.lease = {.ttl = 10s, .renew_every = 100ms};
    const mutex lock{redis, "thing", options};
    auto held = lock.acquire();
    const auto lost = held.lost();
    std::optional<guard> next;
    std::jthread waiter{[&] { next = mutex{client{url}, "thing"}.try_acquire_for(30s); }};
    auto& master = set.server_at(port);
    EXPECT_TRUE(eventually(10s, [&] { return master.raw().info("blocked_clients") == "1"; }));
    testing::restart_without_persistence(master);
    EXPECT_TRUE(eventually(10s, [&] { return lost.stop_requested(); }));
    waiter.join();
    ASSERT_TRUE(next);
    EXPECT_GT(*next->fence(), *held.fence());
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(next->release(), release_result::released);
    EXPECT_EQ(redis.server().port, port);
}

// Case R06: nobody answers is not the same as somebody holds it, and ends in time.
TEST_F(SentinelStates, OfUniversalSilenceEndsWithTheDeadline) {
    const client hasty{set.url() + "?command_timeout=200ms&connect_timeout=200ms&sentinel_timeout=100ms"};
    const mutex lock{hasty, "thing"};
    EXPECT_TRUE(lock.try_acquire());
    {
        const auto state = testing::frozen(set.server_at(port));
        for (std::size_t i = 0; i < sentinel_set::size; ++i)
            set.freeze_sentinel(i);
        const stopwatch since;
        EXPECT_TRUE(thrown_by([&] { static_cast<void>(lock.try_acquire_for(700ms)); }));
        EXPECT_GE(since.elapsed(), 700ms);
        EXPECT_LT(since.elapsed(), 4s);
        for (std::size_t i = 0; i < sentinel_set::size; ++i)
            set.resume_sentinel(i);
    }
    EXPECT_TRUE(eventually(5s, [&] { return at_master([](auto& raw) { return raw.exists("lock:thing"); }) == 0; }));
    EXPECT_TRUE(lock.try_acquire_for(20s));
}

// Case N10: what was tried at one master says nothing of the next one. What cannot be released there is not taken.
TEST(SentinelRights, AreTriedAtEveryMaster) {
    redis_server one;
    redis_server next;
    for (auto* const server : {&one, &next})
        server->must({"ACL", "SETUSER", "worker", "on", ">secret", "~*", "+@all"});
    next.must({"ACL", "SETUSER", "worker", "-del"});
    testing::fake_server sentinel{testing::always(naming(one.port()))};
    auto where = one_sentinel(sentinel.where().port);
    where.server.user = "worker";
    where.server.password = "secret";
    where.check_every = 1ms;
    client redis{where};
    const mutex lock{redis, "thing"};
    EXPECT_TRUE(lock.try_acquire());
    sentinel.answer_with(testing::always(naming(next.port())));
    std::optional<error> refusal;
    EXPECT_TRUE(eventually(10s, [&] {  // until it has asked again
        return (refusal = thrown_by([&] { static_cast<void>(lock.try_acquire()); }));
    }));
    EXPECT_EQ(refusal.value().reason(), errc::no_permission);
    EXPECT_EQ(redis.server().port, next.port());
    EXPECT_EQ(next.raw().exists("lock:thing"), 0);
    next.must({"ACL", "SETUSER", "worker", "+del"});
    EXPECT_TRUE(lock.try_acquire());
}

// The same in the middle of a wait.
TEST(SentinelRights, AreTriedWhereAWaitGoesOn) {
    redis_server one;
    redis_server next;
    testing::fake_server sentinel{testing::always(naming(one.port()))};
    auto where = one_sentinel(sentinel.where().port);
    where.check_every = 1ms;
    const client redis{where};
    const auto foreign = mutex{client{one.url()}, "thing"}.acquire();
    std::optional<error> refusal;
    std::jthread waiter{
        [&] { refusal = thrown_by([&] { static_cast<void>(mutex(redis, "thing").try_acquire_for(30s)); }); }};
    EXPECT_TRUE(eventually(10s, [&] { return one.raw().info("blocked_clients") == "1"; }));
    next.must({"ACL", "SETUSER", "default", "-del"});
    sentinel.answer_with(testing::always(naming(next.port())));
    waiter.join();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason(), errc::no_permission) << refusal->what();
    EXPECT_EQ(next.raw().exists("lock:thing"), 0);
}

}  // namespace
}  // namespace tranca::sentinel_test
