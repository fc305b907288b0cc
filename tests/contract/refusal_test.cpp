// What is out of range is refused with a text that names it, before anything is sent.
#include <type_traits>

#include "contract/contract.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::contract {
namespace {

using ::testing::HasSubstr;
using testing::monitor_reader;

// Fractions of a millisecond cannot be said where the server counts whole ones.
using microseconds = std::chrono::microseconds;
static_assert(!std::is_convertible_v<microseconds, milliseconds>);
template <class Time>
concept extends_by = requires(guard held, Time ttl) {
    held.extend(ttl);
};
static_assert(extends_by<milliseconds> && extends_by<std::chrono::seconds>);
static_assert(!extends_by<microseconds> && !extends_by<std::chrono::duration<double>> && !extends_by<int>);
static_assert(!std::is_constructible_v<lease_options, microseconds>);

class Refusal : public contract {
protected:
    /// Expects that making it fails with a text that says `word`.
    void refuses(const wish& how, const std::string& word) {
        const auto failure = thrown_by([&] { static_cast<void>(make(how)); });
        ASSERT_TRUE(failure) << word;
        EXPECT_EQ(failure->reason(), errc::invalid_argument);
        EXPECT_THAT(failure->what(), HasSubstr(word));
        EXPECT_FALSE(failure->in_doubt());
        EXPECT_FALSE(failure->temporary());
    }

    void TearDown() override { EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty()); }

    monitor_reader monitor{server};
    const monitor_reader::mark_type mark{monitor.mark()};
};

TEST_P(Refusal, OfAnEmptyName) { refuses({.name = ""}, "empty"); }

TEST_P(Refusal, OfANameThatIsTooLong) { refuses({.name = std::string(key::max_size + 1, 'x')}, "1048576"); }

OVER_EVERY_MODEL(Refusal);

class PeriodRefusal : public Refusal {};

TEST_P(PeriodRefusal, OfAPeriodThatIsNotPositive) {
    for (const auto poll : {0ms, -1ms, milliseconds::min(), milliseconds::max()})
        refuses({.poll = poll}, "poll");
}

OVER_MODELS_WHERE(polls, PeriodRefusal);

class TtlRefusal : public Refusal {};

TEST_P(TtlRefusal, OfATtlThatIsNotPositive) {
    for (const auto ttl : {0ms, -1ms, milliseconds{-1h}, milliseconds::min()})
        refuses({.ttl = ttl}, "ttl");
}

TEST_P(TtlRefusal, OfATtlBeyondReason) {
    for (const auto ttl : {milliseconds::max(), longest_duration + 1ms})
        refuses({.ttl = ttl}, "ttl");
}

TEST_P(TtlRefusal, OfAMarginThatLeavesNothing) {
    for (const auto margin : {100ms, 101ms, milliseconds::max(), -1ms, milliseconds::min()})
        refuses({.ttl = 100ms, .margin = margin}, "margin");
}

OVER_MODELS_WHERE(has_ttl, TtlRefusal);

class LimitRefusal : public Refusal {};

TEST_P(LimitRefusal, OfALimitThatIsNotPositive) {
    for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()})
        refuses({.limit = limit}, "limit");
}

TEST_P(LimitRefusal, OfBracesThatAreNoHashTag) {
    for (const std::string bad : {"x{", "a{b", "we}ird", "{}x", "}x"})
        refuses({.name = bad}, bad);
}

OVER_MODELS_WHERE(has_limit, LimitRefusal);

class HelperNameRefusal : public Refusal {};

TEST_P(HelperNameRefusal, OfNamesOfOtherKeysOfASemaphore) {
    refuses({.name = "thing:owner"}, ":owner");
    refuses({.name = "thing:counter"}, ":counter");
}

OVER_MODELS_WHERE(has_helper_names, HelperNameRefusal);

class LiveRefusal : public contract {};

TEST_P(LiveRefusal, OfAnExtensionThatIsNotPositiveLeavesTheHolderAsItWas) {
    auto held = make().acquire();
    const auto until = held.safe_until();
    const auto token = owner();
    monitor_reader monitor{server};
    const auto mark = monitor.mark();
    for (const auto ttl : {0ms, -1ms, milliseconds::min(), milliseconds::max()})
        EXPECT_TRUE(fails_with(errc::invalid_argument, [&] { held.extend(ttl); }));
    EXPECT_THAT(names(monitor.commands_since(mark)), ::testing::IsEmpty());
    EXPECT_TRUE(held);
    EXPECT_EQ(held.safe_until(), until);
    EXPECT_EQ(owner(), token);
    EXPECT_FALSE(held.lost().stop_requested());
}

OVER_EVERY_MODEL(LiveRefusal);

}  // namespace
}  // namespace tranca::contract
