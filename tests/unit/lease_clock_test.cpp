// The arithmetic of a lease, over a grid of options.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tranca/lease_clock.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

const clock::time_point sent{std::chrono::hours{1'000} + 7ns};
const std::vector<milliseconds> ttls{1ms,   2ms,     3ms,     7ms,     10ms,    99ms,     100ms,    101ms,   300ms,
                                     999ms, 1'000ms, 1'001ms, 3'333ms, 9'999ms, 10'000ms, 30'011ms, 86'399ms};

std::vector<std::optional<milliseconds>> margins_for(milliseconds ttl) {
    std::vector<std::optional<milliseconds>> margins{std::nullopt, 0ms};
    for (const auto margin : {1ms, ttl / 10, ttl / 3, ttl / 2})
        if (margin + 1ms < ttl) margins.emplace_back(margin);
    return margins;
}

nanoseconds margin_of(const lease_options& options) {
    return options.margin ? nanoseconds{*options.margin} : nanoseconds{options.ttl} / 10;
}

template <class Check>
void for_every_lease(Check&& check) {
    for (const auto ttl : ttls)
        for (const auto& margin : margins_for(ttl)) {
            SCOPED_TRACE("ttl " + std::to_string(ttl.count()) + " ms, margin " +
                         (margin ? std::to_string(margin->count()) + " ms" : "of a tenth"));
            check(lease_options{.ttl = ttl, .margin = margin});
        }
}

TEST(LeaseClock, TellsTheServerTheTtlAsItIs) {
    for_every_lease([](const lease_options& options) { EXPECT_EQ(lease_clock{options}.ttl(), options.ttl); });
}

TEST(LeaseClock, IsSafeUntilTheTtlLessPrecisionDriftAndMargin) {
    for_every_lease([](const lease_options& options) {
        const lease_clock rules{options};
        const auto drift = nanoseconds{options.ttl} / 1'000;
        EXPECT_EQ(rules.safe_until(sent), sent + options.ttl - 1ms - drift - margin_of(options));
        EXPECT_EQ(rules.safe_until(sent, options.ttl), rules.safe_until(sent));
    });
    EXPECT_EQ(lease_clock{lease_options{}}.safe_until(sent), sent + 10s - 1ms - 10ms - 1s);
}

TEST(LeaseClock, ExpiresWhenTheServerMayExpireTheKeyAtTheEarliest) {
    for_every_lease([](const lease_options& options) {
        const lease_clock rules{options};
        for (const auto ttl : ttls)
            EXPECT_EQ(rules.expires_at(sent, ttl), sent + ttl - 1ms - nanoseconds{ttl} / 1'000);
    });
}

TEST(LeaseClock, IsNeverSafeLongerThanTheServerKeepsTheKey) {
    for_every_lease([](const lease_options& options) {
        const lease_clock rules{options};
        for (const auto ttl : ttls) {
            EXPECT_LE(rules.safe_until(sent, ttl), rules.expires_at(sent, ttl));
            EXPECT_LE(rules.expires_at(sent, ttl), sent + ttl - 1ms) << "it counts whole milliseconds";
        }
    });
}

// A ttl shorter than usual has a margin in proportion, a longer one the usual margin.
TEST(LeaseClock, RoundsTheMarginOfAnotherTtlUpNeverDown) {
    for_every_lease([](const lease_options& options) {
        const lease_clock rules{options};
        const auto usual_margin = margin_of(options).count();
        for (const auto ttl : ttls) {
            const auto margin = nanoseconds{rules.expires_at(sent, ttl) - rules.safe_until(sent, ttl)}.count();
            if (ttl >= options.ttl) {
                EXPECT_EQ(margin, usual_margin);
            } else {
                EXPECT_GE(margin * options.ttl.count(), usual_margin * ttl.count()) << ttl.count();
                EXPECT_LE((margin - 1) * options.ttl.count(), usual_margin * ttl.count()) << ttl.count();
            }
        }
    });
}

TEST(LeaseClock, LeavesSomethingOfEveryLeaseItAcceptsButOfAMillisecond) {
    for (const auto ttl : ttls)
        for (milliseconds margin = 0ms; margin < ttl; margin += std::max(1ms, ttl / 1'000)) {
            const auto rules = [&]() -> std::optional<lease_clock> {
                try {
                    return lease_clock{lease_options{.ttl = ttl, .margin = margin}};
                } catch (const error&) {
                    return std::nullopt;
                }
            }();
            if (rules && ttl > 1ms) {
                ASSERT_GT(rules->safe_until(sent), sent) << ttl.count() << ' ' << margin.count();
            }
        }
}

TEST(LeaseClock, HoldsForTheLongestTtlWithoutOverflow) {
    const lease_clock rules{lease_options{.ttl = longest_duration, .margin = 0ms}};
    EXPECT_EQ(rules.safe_until(sent), sent + longest_duration - 1ms - nanoseconds{longest_duration} / 1'000);
    EXPECT_LT(rules.safe_until(clock::now()), clock::time_point::max());
}

TEST(LeaseClock, KnowsWhenAKeyIsGoneForCertain) {
    const lease_clock rules{lease_options{}};
    EXPECT_EQ(rules.gone_by(sent, 5s), sent + 5s + 1ms + 5ms);
    EXPECT_EQ(lease_clock::endless().gone_by(sent, 5s), clock::time_point::max());
}

TEST(LeaseClock, IsEndlessWithoutATtl) {
    const auto rules = lease_clock::endless();
    EXPECT_TRUE(rules.is_endless());
    EXPECT_EQ(rules.safe_until(sent), clock::time_point::max());
    EXPECT_EQ(rules.safe_until(sent, 5ms), clock::time_point::max());
    EXPECT_EQ(rules.expires_at(sent, 5ms), clock::time_point::max());
    EXPECT_FALSE(lease_clock{lease_options{}}.is_endless());
}

struct bad_lease {
    lease_options options;
    std::vector<std::string> said;
};

void expect_refused(const std::vector<bad_lease>& leases) {
    for (const auto& bad : leases) {
        const auto failure = thrown_by([&] { return lease_clock{bad.options}; });
        EXPECT_EQ(failure.code(), errc::invalid_argument);
        for (const auto& part : bad.said)
            EXPECT_THAT(failure.text(), HasSubstr(part));
    }
}

TEST(LeaseClock, RefusesATtlOutOfRange) {
    expect_refused({{{.ttl = 0ms}, {"ttl (0 ms)"}},
                    {{.ttl = -1ms}, {"ttl (-1 ms)"}},
                    {{.ttl = -1h}, {"ttl (-3600000 ms)"}},
                    {{.ttl = milliseconds::min()}, {"ttl (-9223372036854775808 ms)"}},
                    {{.ttl = milliseconds::max()}, {"ttl (9223372036854775807 ms)"}},
                    {{.ttl = longest_duration + 1ms}, {"ttl (3153600000001 ms)", "3153600000000 ms"}}});
}

TEST(LeaseClock, RefusesOptionsThatContradictEachOtherWithBothNumbers) {
    expect_refused(
        {{{.ttl = 500ms, .margin = 500ms}, {"margin (500 ms)", "ttl (500 ms)"}},
         {{.ttl = 500ms, .margin = 2s}, {"margin (2000 ms)", "ttl (500 ms)"}},
         {{.ttl = 500ms, .margin = milliseconds::max()}, {"margin (9223372036854775807 ms)", "ttl (500 ms)"}},
         {{.ttl = 500ms, .margin = -1ms}, {"margin (-1 ms)"}},
         {{.ttl = 500ms, .max_hold = -1ms}, {"max_hold (-1 ms)"}},
         {{.ttl = 500ms, .renew_every = -1ms}, {"renew_every (-1 ms)"}},
         {{.ttl = 30s, .renew_every = 27s}, {"renew_every (27000 ms)", "ttl - margin (27000 ms)"}},
         {{.ttl = 30s, .renew_every = 1h, .margin = 5s}, {"renew_every (3600000 ms)", "ttl - margin (25000 ms)"}}});
}

TEST(LeaseClock, TakesOptionsUpToTheirBounds) {
    EXPECT_NO_THROW((lease_clock{{.ttl = 30s, .renew_every = 26'999ms}}));
    EXPECT_NO_THROW((lease_clock{{.ttl = 30s, .renew_every = 0ms}}));
    EXPECT_NO_THROW((lease_clock{{.ttl = 30s, .margin = 0ms}}));
    EXPECT_NO_THROW((lease_clock{{.ttl = 30s, .max_hold = milliseconds::max()}}));
    EXPECT_NO_THROW((lease_clock{{.ttl = 1ms}}));
}

TEST(Renewal, IsAThirdOfTheTtlUnlessToldOtherwise) {
    EXPECT_EQ(lease_clock{{.ttl = 30s}}.renew_every(), 10s);
    EXPECT_EQ((lease_clock{{.ttl = 30s, .renew_every = 0ms}}.renew_every()), 0ms);
    EXPECT_EQ((lease_clock{{.ttl = 30s, .renew_every = 7s}}.renew_every()), 7s);
    EXPECT_EQ(lease_clock::endless().renew_every(), 0ms);
}

TEST(Renewal, ThatWouldComeTooLateIsNone) {
    EXPECT_EQ((lease_clock{{.ttl = 30s, .margin = 25s}}.renew_every()), 0ms);
    EXPECT_EQ(lease_clock{{.ttl = 2ms}}.renew_every(), 0ms);
}

TEST(Renewal, StopsWhenItWasHeldForLongEnough) {
    EXPECT_EQ((lease_clock{{.ttl = 30s, .max_hold = 5min}}.renewed_until(sent)), sent + 5min);
    EXPECT_EQ(lease_clock{{.ttl = 30s}}.renewed_until(sent), clock::time_point::max());
}

}  // namespace
}  // namespace tranca::testing
