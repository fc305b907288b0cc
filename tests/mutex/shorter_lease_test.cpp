// An extension to a shorter time of which nobody knows whether it is in force: the holder believes no more than that.
#include <thread>

#include "mutex/loss_watch.hpp"
#include "mutex/mutex_fixture.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::mutex_test {
namespace {

using testing::ending;

class ShorterLease : public mutex_fixture {
protected:
    [[nodiscard]] guard held_through(const std::string& limits, std::optional<milliseconds> renew_every = 0ms) {
        through.emplace(gate.url() + limits, told_to(told));
        auto options = lasting(30s, renew_every);
        options.lease.margin = 10s;  // a third of every time it is extended by
        auto held = mutex{*through, "thing", options}.acquire();
        EXPECT_TRUE(held.extend());  // the script is known
        return held;
    }

    testing::tcp_gate gate{server.tcp()};
    std::optional<client> through;
};

TEST_F(ShorterLease, ThatNobodyConfirmedIsToldLostInTime) {
    auto held = held_through("?command_timeout=200ms");
    const loss_watch loss{held};
    gate.swallow_reply(extension(), ending::keep_open);
    const auto failure = thrown_by([&] { held.extend(1s); });
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->in_doubt());
    const auto end = expires_at();
    ASSERT_TRUE(loss.told_within(5s));
    EXPECT_LT(loss.wall_time(), end);
}

// What is in force on the server from the moment it is sent is believed from then on, and not from when it is given up.
TEST_F(ShorterLease, ThatIsStillAskedForIsToldLostInTime) {
    auto held = held_through("?command_timeout=20s");
    const loss_watch loss{held};
    gate.hold_reply(extension());
    std::jthread asking{[&] { EXPECT_FALSE(thrown_by([&] { EXPECT_FALSE(held.extend(1s)); })); }};
    ASSERT_TRUE(gate.wait_until_held(5s));
    const auto end = expires_at();
    ASSERT_TRUE(eventually(5s, [&] { return !exists(); }));
    EXPECT_FALSE(held);
    EXPECT_TRUE(loss.told_within(1s));
    EXPECT_LT(loss.wall_time(), end);
    gate.let_go();
    asking.join();
}

// The first sending was carried out, the second never left: there is doubt all the same.
TEST_F(ShorterLease, ThatWasCutAndCouldNotBeSentAgainIsBelieved) {
    auto held = held_through("");
    gate.swallow_reply(extension(), ending::reset);
    gate.refuse_connections();
    const auto failure = thrown_by([&] { held.extend(600ms); });
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->in_doubt()) << failure->what();
    ASSERT_TRUE(eventually(5s, [&] { return !exists(); }));
    EXPECT_FALSE(held);
}

// What was given up may be under way still, and shorten what was set by a later one.
TEST_F(ShorterLease, ThatComesLateIsToldLostInTime) {
    auto held = held_through("?command_timeout=200ms");
    const loss_watch loss{held};
    gate.hold(extension());
    EXPECT_TRUE(thrown_by([&] { held.extend(1s); }));
    EXPECT_TRUE(held.extend(20s));
    EXPECT_GT(raw.pttl(lock_key), 10'000);
    gate.let_go();
    ASSERT_TRUE(eventually(5s, [&] { return raw.pttl(lock_key) <= 1'000; }));
    const auto end = expires_at();
    ASSERT_TRUE(eventually(5s, [&] { return !exists(); }));
    EXPECT_FALSE(held);
    EXPECT_TRUE(loss.told_within(1s));
    EXPECT_LT(loss.wall_time(), end);
}

// So may a renewal, before an extension to a longer time.
TEST_F(ShorterLease, OfARenewalThatMayComeLateIsTheLongestBelieved) {
    through.emplace(gate.url(), told_to(told));
    auto held = mutex{*through, "thing", lasting(1500ms, 300ms)}.acquire();
    gate.hold(extension());
    ASSERT_TRUE(gate.wait_until_held(5s));
    ASSERT_TRUE(eventually(5s, [&] { return told->count(event::kind::renewed) > 0; }));  // by another connection
    EXPECT_TRUE(held.extend(20s));
    gate.let_go();
    EXPECT_LE(held.safe_until(), clock::now() + 1500ms);
    EXPECT_TRUE(throughout(2s, [&] { return exists() && !!held; }));
}

// One that may not have come at all, or a longer one that may have: either way the key is not left behind.
TEST_F(ShorterLease, ThatIsInDoubtIsReleasedByItsDestructor) {
    for (const bool comes : {false, true}) {
        std::optional<guard> held = held_through("?command_timeout=200ms");
        if (comes) {
            ASSERT_TRUE(held->extend(500ms));
            gate.swallow_reply(extension(), ending::keep_open);
        } else {
            gate.hold(extension());
        }
        EXPECT_TRUE(thrown_by([&] { held->extend(comes ? 20s : 500ms); }));
        gate.cut_held();
        ASSERT_TRUE(eventually(5s, [&] { return !*held; }));
        EXPECT_TRUE(throughout(100ms, [&] { return exists(); }));
        held.reset();
        EXPECT_TRUE(eventually(1s, [&] { return !exists(); })) << comes;
    }
}

TEST_F(ShorterLease, ThatWasNeverSentChangesNothing) {
    auto held = held_through("", 10s);
    const loss_watch loss{held};
    const auto until = held.safe_until();
    gate.cut();
    gate.refuse_connections();
    const auto failure = thrown_by([&] { held.extend(600ms); });
    ASSERT_TRUE(failure);
    EXPECT_FALSE(failure->in_doubt()) << failure->what();
    EXPECT_EQ(held.safe_until(), until);
    gate.accept_connections();
    EXPECT_TRUE(throughout(1s, [&] { return !!held && !loss.told(); }));
    EXPECT_TRUE(held.extend());
}

TEST_F(ShorterLease, ThatIsConfirmedIsRenewedFromThere) {
    auto held = held_through("?command_timeout=200ms", 10s);
    gate.swallow_reply(extension(), ending::keep_open);
    EXPECT_TRUE(thrown_by([&] { held.extend(900ms); }));
    EXPECT_TRUE(throughout(2s, [&] { return exists() && !!held; }));
}

}  // namespace
}  // namespace tranca::mutex_test
