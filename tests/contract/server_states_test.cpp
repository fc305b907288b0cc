// A server that is not well: what passes is waited out, what does not is told, nothing is left behind.
#include <thread>

#include "contract/contract.hpp"
#include "support/fake_server.hpp"
#include "support/faults.hpp"
#include "support/replica_pair.hpp"

namespace tranca::contract {
namespace {

using testing::fault;
using testing::redis_server;

class ServerState : public contract {
protected:
    /// The state ends after a while, on a thread of its own.
    [[nodiscard]] static std::jthread ends_soon(fault& state) {
        return std::jthread{[&state] {
            std::this_thread::sleep_for(100ms);  // how long it lasts; right whatever the other side does meanwhile
            state.end();
        }};
    }

    /// A wait outlives the state; without time it is told as what it is, and leaves nothing.
    void passes(fault (*begin)(redis_server&), errc reason) {
        const auto primitive = make();
        warm_up(primitive);
        auto state = begin(server);
        EXPECT_TRUE(fails_with(reason, [&] { static_cast<void>(primitive.try_acquire()); }));
        EXPECT_TRUE(fails_with(reason, [&] { static_cast<void>(primitive.try_acquire_for(20ms)); }));
        {
            const auto ending = ends_soon(state);
            auto held = primitive.try_acquire_for(20s);
            ASSERT_TRUE(held);
            EXPECT_TRUE(*held);
            EXPECT_EQ(held->release(), release_result::released);
        }
        EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    }

    /// A holder extends and releases while the state lasts for a moment.
    void holder_outlives(fault (*begin)(redis_server&)) {
        const client patient{server.url() + "?command_timeout=10s", events.options()};
        auto held = make_on(patient, {.ttl = 60s}).acquire();
        {
            auto state = begin(server);
            const auto ending = ends_soon(state);
            EXPECT_TRUE(held.extend());
        }
        {
            auto state = begin(server);
            const auto ending = ends_soon(state);
            EXPECT_EQ(held.release(), release_result::released);
        }
        EXPECT_THAT(keys_left(), ::testing::IsEmpty());
        EXPECT_EQ(events.size(), 0u) << events.text();
    }
};

TEST_P(ServerState, WithoutReplicasPasses) { passes(testing::no_replicas, errc::no_replicas); }
TEST_P(ServerState, OfAReplicaPasses) { passes(testing::demoted, errc::read_only); }
TEST_P(ServerState, BusyWithAScriptPasses) { passes(testing::busy_script, errc::busy_script); }
TEST_P(ServerState, LoadingPasses) { passes(testing::loading, errc::loading); }
TEST_P(ServerState, WithoutMemoryPasses) { passes(testing::out_of_memory, errc::out_of_memory); }
TEST_P(ServerState, WithoutDiskPasses) { passes(testing::disk_error, errc::misconf); }
TEST_P(ServerState, OfAbsencePasses) { passes(testing::unreachable, errc::connect_failed); }

TEST_P(ServerState, OfAbsenceIsOutlivedByAWaitWithoutEnd) {
    const auto primitive = make();
    warm_up(primitive);
    auto gone = testing::unreachable(server);
    const auto ending = ends_soon(gone);
    auto held = primitive.acquire();
    EXPECT_TRUE(held);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(ServerState, WithoutReplicasIsOutlivedByAHolder) { holder_outlives(testing::no_replicas); }
TEST_P(ServerState, OfAReplicaIsOutlivedByAHolder) { holder_outlives(testing::demoted); }
TEST_P(ServerState, BusyWithAScriptIsOutlivedByAHolder) { holder_outlives(testing::busy_script); }
TEST_P(ServerState, WithoutDiskIsOutlivedByAHolder) { holder_outlives(testing::disk_error); }

TEST_P(ServerState, WithoutMemoryLetsAHolderExtendAndRelease) {
    auto held = make().acquire();
    const auto full = testing::out_of_memory(server);
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(holders(), 0);
}

TEST_P(ServerState, ThatFailsAReleaseForTooLongIsUnknown) {
    const client hasty{server.url() + "?command_timeout=150ms", events.options()};
    auto held = make_on(hasty, {.ttl = 60s}).acquire();
    {
        const auto state = testing::no_replicas(server);
        EXPECT_EQ(held.release(), release_result::unknown);
        EXPECT_EQ(holders(), 1);
    }
    EXPECT_EQ(events.count(event::kind::release_unknown), 1);
    // Its short time may not do at once.
    EXPECT_TRUE(eventually(5s, [&] { return held.release() == release_result::released; }));
}

TEST_P(ServerState, WithoutItsScriptsIsSentThemAgain) {
    for (int i = 0; i < 3; ++i) {
        testing::flush_scripts(server);
        auto held = make().acquire();
        testing::flush_scripts(server);
        EXPECT_TRUE(held.extend());
        testing::flush_scripts(server);
        EXPECT_EQ(held.release(), release_result::released);
        testing::flush_scripts(server);
        { const auto dropped = make().acquire(); }
        EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    }
}

TEST_P(ServerState, WithTooManyClientsPasses) {
    const client newcomer = another_client();
    const auto primitive = make_on(newcomer);
    auto full = testing::too_many_clients(server);
    EXPECT_TRUE(fails_with(errc::max_clients, [&] { static_cast<void>(primitive.try_acquire()); }));
    const auto ending = ends_soon(full);
    EXPECT_TRUE(primitive.try_acquire_for(20s));
}

TEST_P(ServerState, RestartedMeanwhileIsNoticed) {
    const auto primitive = make();
    auto held = primitive.acquire();
    testing::restart_without_persistence(server);
    EXPECT_FALSE(held.extend());
    EXPECT_EQ(held.release(), release_result::expired);
    EXPECT_TRUE(primitive.try_acquire());
}

TEST_P(ServerState, ThatNeverKeepsAScriptIsAnErrorAndNoLoop) {
    testing::fake_server forgetful{testing::after_handshake(testing::always("-NOSCRIPT No matching script.\r\n"))};
    const client newcomer{forgetful.url()};
    EXPECT_TRUE(fails_with(errc::no_script, [&] { static_cast<void>(make_on(newcomer).try_acquire_for(10s)); }));
    EXPECT_LE(forgetful.commands("EVAL|EVALSHA|SCRIPT"), of.script_commands);
}

TEST_P(ServerState, ThatEvictedTheKeyIsNoticed) {
    auto held = make().acquire();
    const auto evicted = testing::evict_keys_with_ttl(server);
    EXPECT_EQ(held.extend(), evicted == 0);  // what has no ttl stays
    EXPECT_EQ(static_cast<bool>(held), evicted == 0);
    EXPECT_EQ(holders(), evicted == 0 ? 1 : 0);
}

TEST_P(ServerState, SwitchedOverToAnotherMasterIsFollowed) {
    testing::replica_pair pair;
    const client through{pair.url()};
    const auto primitive = make_on(through, {.ttl = 60s});
    auto held = primitive.acquire();
    pair.wait_in_sync();
    pair.switch_over();  // the old connections lead to a replica now
    EXPECT_TRUE(held.extend());
    // Busy, once it asks the right one, which it may not come to in so short a time.
    EXPECT_TRUE(eventually(
        5s, [&] { return !thrown_by([&] { EXPECT_FALSE(rival_on(through, {.ttl = 60s}).try_acquire_for(200ms)); }); }));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(primitive.try_acquire());
}

TEST_P(ServerState, FailedOverWithoutTheLastWritesIsNoticed) {
    testing::replica_pair pair;
    const client through{pair.url()};
    const auto primitive = make_on(through, {.ttl = 60s});
    pair.stop_replication();
    auto held = primitive.acquire();
    pair.fail_over();
    const client elsewhere{pair.url()};
    EXPECT_TRUE(make_on(elsewhere, {.ttl = 60s})
                    .try_acquire());  // the promoted server knows no holder: that is what a fence is for
    EXPECT_FALSE(held.extend());
    EXPECT_FALSE(held);
    EXPECT_EQ(held.release(), release_result::expired);
}

OVER_EVERY_MODEL(ServerState);

class DeathOfTheServer : public contract {};

TEST_P(DeathOfTheServer, LetsTheDestructorEndInTimeAndSayItOnce) {
    event_log told;
    const client hasty{server.url() + "?command_timeout=200ms&connect_timeout=200ms", told.options()};
    std::optional<guard> held{make_on(hasty, {.ttl = 60s}).acquire()};
    const auto gone = testing::unreachable(server);
    const stopwatch since_start;
    held.reset();
    EXPECT_LT(since_start.elapsed(), 2s);
    EXPECT_EQ(told.count(event::kind::release_unknown), 1);
    EXPECT_EQ(told.size(), 1u) << told.text();
}

TEST_P(DeathOfTheServer, InTheMiddleOfAnExceptionLetsThatThrough) {
    const client hasty = another_client("?command_timeout=200ms&connect_timeout=200ms");
    std::optional<fault> gone;
    try {
        const auto held = make_on(hasty).acquire();
        gone.emplace(testing::unreachable(server));
        throw std::runtime_error{"the caller's own"};
    } catch (const std::runtime_error& failure) {
        EXPECT_STREQ(failure.what(), "the caller's own");
    }
}

TEST_P(DeathOfTheServer, ByFreezingBoundsTheDestructorToo) {
    const client hasty = another_client("?command_timeout=200ms&connect_timeout=200ms");
    std::optional<guard> held{make_on(hasty, {.ttl = 60s}).acquire()};
    const auto frozen = testing::frozen(server);
    const stopwatch since_start;
    held.reset();
    EXPECT_LT(since_start.elapsed(), 2s);
}

TEST_P(DeathOfTheServer, IsAnErrorThatNamesTheServerAndIsTold) {
    const client hasty = another_client("?command_timeout=200ms&connect_timeout=200ms");
    const auto gone = testing::unreachable(server);
    const auto failure = thrown_by([&] { static_cast<void>(make_on(hasty).acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::connect_failed);
    EXPECT_FALSE(failure->in_doubt());
    EXPECT_THAT(failure->what(), ::testing::HasSubstr(std::to_string(server.port())));
}

OVER_EVERY_MODEL(DeathOfTheServer);

class DeathWithinTheLease : public contract {};

TEST_P(DeathWithinTheLease, BoundsTheDestructorByWhatIsLeft) {
    const client patient = another_client("?command_timeout=30s");
    std::optional<guard> held{make_on(patient, {.ttl = 400ms}).acquire()};
    const auto frozen = testing::frozen(server);
    const stopwatch since_start;
    held.reset();
    EXPECT_LT(since_start.elapsed(), 3s);
}

OVER_MODELS_WHERE(has_ttl, DeathWithinTheLease);

}  // namespace
}  // namespace tranca::contract
