// What a holder believes about its lease, by a clock that only these tests move.
#include <gmock/gmock.h>

#include <chrono>

#include <tranca/lease_belief.hpp>

namespace tranca::lease_belief_test {
namespace {

using namespace std::chrono_literals;

const clock::time_point start{std::chrono::hours{1'000}};

class LeaseBelief : public ::testing::Test {
protected:
    LeaseBelief() { belief.begin(start, start); }

    // Safe for 10 s, less 1 ms of precision, 10 ms of drift and 1 s of margin.
    lease_belief belief{lease_clock{{.ttl = 10s, .renew_every = 3s, .margin = 1s}}};
};

TEST_F(LeaseBelief, CountsFromTheSending) {
    EXPECT_EQ(belief.safe_until(), start + 8989ms);
    EXPECT_EQ(belief.expires_at(), start + 9989ms);
    EXPECT_EQ(belief.gone_by(), start + 10011ms);
    EXPECT_EQ(belief.renew_at(), start + 3s);
    EXPECT_EQ(belief.ttl(), 10s);
    EXPECT_EQ(belief.begun(), start);
    belief.extended(start + 5s, start + 5s, 20s);
    EXPECT_EQ(belief.safe_until(), start + 5s + 20s - 21ms - 1s);
    EXPECT_EQ(belief.gone_by(), start + 5s + 20s + 21ms);
    EXPECT_EQ(belief.ttl(), 20s);
}

TEST_F(LeaseBelief, ExpectsALongerTimeOnlyWhenItIsTold) {
    EXPECT_FALSE(belief.expect(start + 1s, 10s));
    EXPECT_EQ(belief.safe_until(), start + 8989ms);
}

TEST_F(LeaseBelief, ExpectsAShorterTimeFromTheSendingOn) {
    const auto before = belief.expect(start + 1s, 2s);
    ASSERT_TRUE(before);
    EXPECT_EQ(belief.safe_until(), start + 1s + 2s - 3ms - 200ms);
    EXPECT_LT(belief.renew_at(), belief.safe_until());
    EXPECT_EQ(belief.gone_by(), start + 10011ms) << "it may not have been carried out";
    belief.restore(*before);
    EXPECT_EQ(belief.safe_until(), start + 8989ms);
    EXPECT_EQ(belief.expires_at(), start + 9989ms);
    EXPECT_EQ(belief.renew_at(), start + 3s);
    EXPECT_EQ(belief.ttl(), 10s);
}

TEST_F(LeaseBelief, WhatNobodyHeardOfLimitsWhatComesAfterIt) {
    belief.perhaps_extended(2s, start + 1s);
    EXPECT_EQ(belief.safe_until(), start + 8989ms) << "expect() is what shortens it";
    belief.extended(start + 2s, start + 2s, 30s);
    EXPECT_EQ(belief.safe_until(), start + 2s + 2s - 3ms - 200ms) << "the unheard one may have come last";
    EXPECT_EQ(belief.gone_by(), start + 2s + 30s + 31ms);
    EXPECT_EQ(belief.ttl(), 30s) << "what renewals ask for";
}

TEST_F(LeaseBelief, WhatNobodyHeardOfMayStayLonger) {
    belief.perhaps_extended(60s, start + 1s);
    EXPECT_EQ(belief.gone_by(), start + 1s + 60s + 61ms);
    belief.extended(start + 2s, start + 2s, 10s);
    EXPECT_EQ(belief.gone_by(), start + 1s + 60s + 61ms) << "it may have come last";
    EXPECT_EQ(belief.safe_until(), start + 2s + 8989ms);
}

TEST_F(LeaseBelief, WhatWasHeardEndsWhatWasExtendedByMore) {
    belief.extended(start + 1s, start + 1s, 60s);
    belief.extended(start + 2s, start + 2s, 5s);
    EXPECT_EQ(belief.gone_by(), start + 2s + 5s + 6ms);
}

TEST_F(LeaseBelief, IsDueForRenewalOnce) {
    EXPECT_FALSE(belief.renewal_due(start + 3s - 1ns));
    EXPECT_TRUE(belief.renewal_due(start + 3s));
    EXPECT_FALSE(belief.renewal_due(start + 4s)) << "one is under way";
    belief.renew_soon(start + 4s);
    EXPECT_EQ(belief.renew_at(), start + 4s + 375ms) << "an eighth of the usual pause";
    belief.extended(start + 5s, start + 5s, 10s);
    EXPECT_EQ(belief.renew_at(), start + 8s);
}

TEST_F(LeaseBelief, IsRenewedSoonerWhereAnExtensionMadeItShorter) {
    belief.extended(start + 1s, start + 1s, 300ms);
    EXPECT_EQ(belief.renew_at(), start + 1s + 100ms);
    belief.renew_soon(start + 1s);
    EXPECT_EQ(belief.renew_at(), start + 1s + 12ms);
    belief.extended(start + 1s, start + 1s, 3ms);
    belief.renew_soon(start + 1s);
    EXPECT_EQ(belief.renew_at(), start + 1s + lease_belief::pause_between_repeats);
}

TEST_F(LeaseBelief, IsRenewedSoonerWhereAShorterExtensionWasNotHeard) {
    belief.perhaps_extended(600ms, start + 1s);
    belief.extended(start + 2s, start + 2s, 10s);
    EXPECT_EQ(belief.renew_at(), start + 2s + 200ms);
    belief.renew_soon(start + 2s);
    EXPECT_EQ(belief.renew_at(), start + 2s + 25ms);
}

// A waiter sends its request long before it is woken, and the server counts from then.
TEST_F(LeaseBelief, IsGoneWhenWhatWasGrantedLateIsGone) {
    lease_belief woken{belief.rules()};
    woken.begin(start, start + 1s);
    EXPECT_EQ(woken.safe_until(), start + 8989ms);
    EXPECT_EQ(woken.gone_by(), start + 1s + 10011ms);
}

TEST_F(LeaseBelief, CarriesOnWithTheTimesOfAnother) {
    belief.extended(start + 1s, start + 1s, 60s);
    lease_belief next{belief.rules()};
    next.carry_on(belief, start + 2s);
    EXPECT_EQ(next.safe_until(), belief.safe_until());
    EXPECT_EQ(next.expires_at(), belief.expires_at());
    EXPECT_EQ(next.gone_by(), belief.gone_by());
    EXPECT_EQ(next.renew_at(), start + 4s) << "when it would have been due";
    EXPECT_EQ(next.begun(), start + 2s);
    EXPECT_EQ(next.ttl(), 10s) << "its own";
}

TEST_F(LeaseBelief, CarriesOnWithWhatNobodyHeardOf) {
    belief.perhaps_extended(2s, start + 1s);
    lease_belief next{belief.rules()};
    next.carry_on(belief, start + 2s);
    next.extended(start + 3s, start + 3s, 10s);
    EXPECT_EQ(next.safe_until(), start + 3s + 2s - 3ms - 200ms);
}

TEST_F(LeaseBelief, IsRenewedForNoLongerThanItMayBeHeld) {
    lease_belief bounded{lease_clock{{.ttl = 10s, .renew_every = 3s, .margin = 1s, .max_hold = 7s}}};
    bounded.begin(start, start);
    bounded.extended(start + 3s, start + 3s, 10s);
    EXPECT_EQ(bounded.renew_at(), start + 6s);
    bounded.renew_soon(start + 6900ms);
    EXPECT_EQ(bounded.renew_at(), clock::time_point::max());
    bounded.extended(start + 6s, start + 6s, 10s);
    EXPECT_EQ(bounded.renew_at(), clock::time_point::max());
}

TEST_F(LeaseBelief, WithoutAnEndIsSafeForEver) {
    lease_belief endless{lease_clock::endless()};
    endless.begin(start, start);
    EXPECT_EQ(endless.safe_until(), clock::time_point::max());
    EXPECT_EQ(endless.gone_by(), clock::time_point::max());
    EXPECT_FALSE(endless.renewal_due(start + 1h));
}

}  // namespace
}  // namespace tranca::lease_belief_test
