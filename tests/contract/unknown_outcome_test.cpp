// An attempt whose answer is lost: a guard or an error, never "busy", and nothing is left behind.
#include <algorithm>
#include <cctype>
#include <thread>

#include "contract/contract.hpp"
#include "support/faults.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::contract {
namespace {

using testing::any_command;
using testing::command_match;
using testing::ending;
using testing::named;
using testing::nth;

class UnknownOutcome : public contract {
protected:
    void SetUp() override {
        warm_up(primitive);
        gate.forget_commands();
        auto held = primitive.acquire();
        commands = gate.commands().size();
        held.release();
    }

    /// One attempt that something goes wrong with; then the server must have nothing left.
    void attempt(const std::string& trouble) {
        std::optional<guard> held;
        const auto failure = thrown_by([&] { held = primitive.try_acquire(); });
        EXPECT_TRUE(held || failure) << "busy, though nobody holds it: " << trouble;
        if (held) {
            EXPECT_TRUE(*held) << trouble;
            EXPECT_EQ(holders(), 1) << trouble;
            EXPECT_EQ(held->release(), release_result::released) << trouble;
        }
        gate.pass();
        EXPECT_TRUE(eventually(2s, [&] { return keys_left().empty(); }))
            << trouble << ": " << ::testing::PrintToString(keys_left());
        EXPECT_TRUE(!failure || failure->in_doubt() || keys_left().empty()) << trouble;
        EXPECT_TRUE(!failure || !tells_a_token(failure->what())) << failure->what();
        EXPECT_FALSE(tells_a_token(events.text())) << events.text();
        raw.flush();
    }

    /// 32 hexadecimal digits in a row: whoever knows a token can release.
    [[nodiscard]] static bool tells_a_token(const std::string& text) {
        constexpr int digits = 32;
        const auto is_digit = [](char byte) { return std::isxdigit(static_cast<unsigned char>(byte)) != 0; };
        int row = 0;
        return std::ranges::any_of(text, [&](char byte) { return (row = is_digit(byte) ? row + 1 : 0) == digits; });
    }

    [[nodiscard]] command_match granting() const { return nth(of.grant_number, named(of.grant)); }

    testing::tcp_gate gate{server.tcp()};
    client through{gate.url() + "?command_timeout=200ms&connect_timeout=200ms", events.options()};
    any_primitive primitive{make_on(through, {.ttl = 60s})};
    std::size_t commands{0};  // of one attempt that succeeds
};

TEST_P(UnknownOutcome, OfAnyAnswerThatIsLostWithItsConnection) {
    for (const auto how : {ending::reset, ending::close})
        for (std::size_t i = 1; i <= commands; ++i) {
            gate.swallow_reply(nth(i, any_command()), how);
            attempt("command " + std::to_string(i) + " of " + std::to_string(commands));
        }
}

TEST_P(UnknownOutcome, OfAnyAnswerThatNeverComes) {
    for (std::size_t i = 1; i <= commands; ++i) {
        gate.swallow_reply(nth(i, any_command()), ending::keep_open);
        attempt("command " + std::to_string(i) + " of " + std::to_string(commands));
    }
}

TEST_P(UnknownOutcome, OfAnyCommandThatIsLostOnItsWay) {
    for (std::size_t i = 1; i <= commands; ++i) {
        gate.hold(nth(i, any_command()));
        const std::jthread cutter{[&] {
            EXPECT_TRUE(gate.wait_until_held(5s));
            gate.cut_held();
        }};
        attempt("command " + std::to_string(i) + " of " + std::to_string(commands));
    }
}

TEST_P(UnknownOutcome, OfCommandsCutInTheMiddle) {
    for (std::size_t bytes = 1; bytes < 200; bytes += 23) {
        gate.cut_after(bytes, testing::direction::to_server);
        attempt("after " + std::to_string(bytes) + " bytes");
    }
}

TEST_P(UnknownOutcome, OfACommandThatMayStillArriveIsInDoubt) {
    gate.hold(granting());
    std::optional<guard> held;
    const auto failure = thrown_by([&] { held = primitive.try_acquire(); });
    EXPECT_FALSE(held);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_TRUE(failure->in_doubt());
}

TEST_P(UnknownOutcome, IsInDoubtWhenItsUndoingIsNotAnswered) {
    gate.swallow_reply(granting(), ending::keep_open);
    gate.swallow_reply("EVAL", ending::keep_open);
    const auto failure = thrown_by([&] { static_cast<void>(primitive.try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_TRUE(failure->in_doubt());
    EXPECT_GE(events.count(event::kind::undo_failed), 1) << events.text();
    EXPECT_TRUE(eventually(2s, [&] { return keys_left().empty(); }));
}

TEST_P(UnknownOutcome, IsRepeatedByAWaitThatHasTime) {
    gate.swallow_reply(granting(), ending::keep_open);
    auto held = primitive.try_acquire_for(5s);
    ASSERT_TRUE(held);
    EXPECT_EQ(holders(), 1);
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(UnknownOutcome, OnAFrozenServerIsAnErrorAndUndoneWhenItGoesOn) {
    {
        const auto frozen = testing::frozen(server);
        const stopwatch since_start;
        std::optional<guard> held;
        const auto failure = thrown_by([&] { held = primitive.try_acquire(); });
        EXPECT_LT(since_start.elapsed(), 2s);
        EXPECT_FALSE(held);
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::timeout);
        EXPECT_TRUE(failure->in_doubt());
    }
    EXPECT_TRUE(eventually(2s, [&] { return keys_left().empty(); }));
    EXPECT_TRUE(primitive.try_acquire_for(5s));
}

TEST_P(UnknownOutcome, OnAFrozenServerOfAWaitEndsInTime) {
    const auto frozen = testing::frozen(server);
    const stopwatch since_start;
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(primitive.try_acquire_for(300ms)); }));
    EXPECT_LT(since_start.elapsed(), 2s);
}

// Nothing was asked for yet but whether the account may release: that can have no effect.
TEST_P(UnknownOutcome, OfTheVeryFirstQuestionIsNotInDoubt) {
    const client newcomer{gate.url() + "?command_timeout=200ms&connect_timeout=200ms"};
    const auto first = make_on(newcomer);
    const auto frozen = testing::frozen(server);
    const auto failure = thrown_by([&] { static_cast<void>(first.try_acquire()); });
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_FALSE(failure->in_doubt());
}

TEST_P(UnknownOutcome, OfTheVeryFirstQuestionIsRepeatedByAWait) {
    const client newcomer{gate.url() + "?command_timeout=200ms&connect_timeout=200ms"};
    auto frozen = testing::frozen(server);
    const std::jthread thaw{[&] {
        std::this_thread::sleep_for(450ms);  // longer than the time limit
        frozen.end();
    }};
    EXPECT_TRUE(make_on(newcomer).try_acquire_for(10s));
}

TEST_P(UnknownOutcome, LeavesNoAnswerForTheNextCommand) {
    of.occupy(raw, "other");
    const auto other = make_on(through, {.name = "other"});
    auto frozen = testing::frozen(server);
    EXPECT_TRUE(thrown_by([&] { static_cast<void>(primitive.try_acquire()); }));
    frozen.end();
    EXPECT_FALSE(other.try_acquire_for(0ms));
    EXPECT_EQ(of.owner(raw, "other"), "foreign");
}

OVER_EVERY_MODEL(UnknownOutcome);

class LateGrant : public contract {};

TEST_P(LateGrant, IsRefusedAndGivenBack) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url()};
    const auto primitive = make_on(through, {.ttl = 100ms});
    primitive.acquire().release();
    gate.delay_replies(200ms, named(of.grant));
    std::optional<guard> held;
    const auto failure = thrown_by([&] { held = primitive.try_acquire(); });
    EXPECT_FALSE(held);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::timeout);
    EXPECT_FALSE(failure->in_doubt());
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

TEST_P(LateGrant, OfAPausedServerIsRefusedAndGivenBack) {
    const auto primitive = make({.ttl = 100ms});
    warm_up(primitive);
    std::optional<guard> held;
    const auto pause = testing::paused(server, 250ms, testing::paused_commands::all);
    const auto failure = thrown_by([&] { held = primitive.try_acquire(); });
    // Where several commands come one after another's answer, the pause may be over before the lease begins.
    EXPECT_TRUE(held ? *held && !failure : failure->reason() == errc::timeout);
    held.reset();
    EXPECT_THAT(keys_left(), ::testing::IsEmpty());
}

// Whatever comes after the grant (giving an entrance back, for one) takes time off the lease.
TEST_P(LateGrant, IsNeverHandedOutWhateverIsSlow) {
    testing::tcp_gate gate{server.tcp()};
    const client through{gate.url()};
    const auto primitive = make_on(through, {.ttl = 100ms});
    primitive.acquire().release();
    gate.forget_commands();
    { const auto held = primitive.acquire(); }
    const auto commands = gate.commands().size();
    for (std::size_t i = 1; i <= commands; ++i) {
        raw.flush();
        gate.delay_replies(200ms, nth(i, any_command()));
        std::optional<guard> held;
        static_cast<void>(thrown_by([&] { held = primitive.try_acquire(); }));
        EXPECT_TRUE(!held || *held) << "command " << i << " of " << commands;
        held.reset();
        gate.pass();
    }
}

OVER_MODELS_WHERE(has_ttl, LateGrant);

}  // namespace
}  // namespace tranca::contract
