// Every way a release can go, told apart, and none of them twice.
#include <atomic>
#include <stdexcept>

#include "contract/contract.hpp"
#include "support/child_process.hpp"
#include "support/faults.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::contract {
namespace {

using testing::monitor_reader;

class Release : public contract {};

TEST_P(Release, AnswersReleasedExactlyOnce) {
    auto held = make().acquire();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(held);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_EQ(held.release(), release_result::expired);
    EXPECT_EQ(events.size(), 0u) << events.text();
}

TEST_P(Release, IsOneRoundTripAndNothingAfterwards) {
    const auto primitive = make();
    warm_up(primitive);
    monitor_reader monitor{server};
    auto mark = monitor.mark();
    {
        auto held = primitive.acquire();
        mark = monitor.mark();
        held.release();
        EXPECT_EQ(names(monitor.commands_since(mark)).size(), 1u);
        mark = monitor.mark();
        held.release();
    }
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
}

TEST_P(Release, OfWhatIsGoneAnswersExpired) {
    auto held = make().acquire();
    raw.flush();
    EXPECT_EQ(held.release(), release_result::expired);
    EXPECT_EQ(events.count(event::kind::release_expired), 1);
    EXPECT_EQ(events.size(), 1u) << events.text();
    EXPECT_THAT(raw.keys(), ::testing::IsEmpty());
}

TEST_P(Release, OfWhatAnotherHoldsLeavesItAlone) {
    auto held = make().acquire();
    occupy();
    const auto result = of.tells_taken ? release_result::taken : release_result::expired;
    EXPECT_EQ(held.release(), result);
    EXPECT_EQ(held.release(), release_result::expired);
    EXPECT_TRUE(is_foreign());
    EXPECT_EQ(events.count(of.tells_taken ? event::kind::release_taken : event::kind::release_expired), 1);
    EXPECT_EQ(events.size(), 1u) << events.text();
}

TEST_P(Release, OfWhatIsNoLongerOursByTypeAnswersTaken) {
    auto held = make().acquire();
    testing::make_wrong_type(server, of.key_of(name));
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(raw.must({"LLEN", of.key_of(name)}), 1);
    EXPECT_EQ(events.count(event::kind::release_taken), 1);
}

TEST_P(Release, TwiceLeavesTheNextHolderAlone) {
    auto first = make().acquire();
    EXPECT_EQ(first.release(), release_result::released);
    const auto second = make().acquire();
    const auto token = owner();
    EXPECT_EQ(first.release(), release_result::expired);
    EXPECT_EQ(owner(), token);
    EXPECT_FALSE(rival().try_acquire());
    EXPECT_TRUE(second);
}

TEST_P(Release, ByAFrozenServerIsUnknownAndCanBeRepeated) {
    event_log told;
    const client hasty{server.url() + "?command_timeout=150ms&connect_timeout=150ms", told.options()};
    auto held = make_on(hasty, {.ttl = 30s}).acquire();
    const stopwatch since_start;
    {
        const auto frozen = testing::frozen(server);
        EXPECT_EQ(held.release(), release_result::unknown);
        EXPECT_FALSE(held);
        EXPECT_LT(since_start.elapsed(), 1s);
    }
    EXPECT_EQ(told.count(event::kind::release_unknown), 1) << told.text();
    // What was sent first runs when the server goes on, so that the second finds nothing left: once it is answered in
    // so short a time.
    EXPECT_TRUE(eventually(5s, [&] { return held.release() == release_result::released; }));
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
    EXPECT_TRUE(make().try_acquire());
}

TEST_P(Release, ThatNeverReachedTheServerIsRepeatedWithTheSameToken) {
    const client hasty = another_client("?command_timeout=2s");
    auto held = make_on(hasty, {.ttl = 30s}).acquire();
    {
        const auto gone = testing::unreachable(server);
        EXPECT_EQ(held.release(), release_result::unknown);
        EXPECT_EQ(held.release(), release_result::unknown);
    }
    EXPECT_EQ(held.release(), release_result::expired);  // the server has forgotten everything
    EXPECT_TRUE(make().try_acquire());
}

TEST_P(Release, SurvivesConnectionsThatTheServerClosed) {
    for (int i = 0; i < 5; ++i) {
        auto held = make().acquire();
        testing::kill_connections(server);
        EXPECT_TRUE(held.extend());
        testing::kill_connections(server);
        EXPECT_EQ(held.release(), release_result::released);
        testing::kill_connections(server);
    }
    EXPECT_EQ(events.size(), 0u) << events.text();
}

TEST_P(Release, FindsItsDatabaseAgainAfterEveryReconnect) {
    const client elsewhere{server.url(5)};
    auto held = make_on(elsewhere).acquire();
    testing::kill_connections(server);
    EXPECT_TRUE(held.extend());
    testing::kill_connections(server);
    EXPECT_FALSE(rival_on(elsewhere).try_acquire());
    EXPECT_EQ(raw.dbsize(), 0);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(raw.dbsize(), 0);
}

// A deadlock would hang this process: it is a child that tries.
TEST_P(Release, TellsItsEventsWithNothingLocked) {
    testing::child_process child{[&] {
        guard held;
        std::atomic<int> told{0};
        client_options options;
        options.on_event = [&](const event&) {
            if (++told > 1) return;
            EXPECT_FALSE(held.extend());
            EXPECT_EQ(held.release(), release_result::expired);
            held.abandon();
            throw std::runtime_error{"of the sink"};
        };
        const client own{server.url(), options};
        held = make_on(own).acquire();
        raw.flush();
        EXPECT_EQ(held.release(), release_result::expired);
        EXPECT_EQ(told, 1);
    }};
    EXPECT_EQ(child.wait(10s), testing::exited(0));
}

OVER_EVERY_MODEL(Release);

}  // namespace
}  // namespace tranca::contract
