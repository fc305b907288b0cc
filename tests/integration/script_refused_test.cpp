// Servers that never keep a script, tell nonsense for its hash, or do not let this account run any (cases N01, N10).
#include <gmock/gmock.h>

#include <array>
#include <string>

#include <tranca/client.hpp>
#include <tranca/script.hpp>

#include "support/fake_server.hpp"
#include "support/faults.hpp"
#include "support/redis_fixture.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using ::testing::HasSubstr;

using ScriptRefused = redis_fixture;

answering forgetful(const std::string& hash) {
    return [hash](const seen_command& command) -> fake_answer {
        if (command.arguments.at(0) == "SCRIPT")
            return {.bytes = "$" + std::to_string(hash.size()) + "\r\n" + hash + "\r\n"};
        return {.bytes = "-NOSCRIPT No matching script. Please use EVAL.\r\n"};
    };
}

TEST(ForgetfulServer, IsAskedTwiceAndNoMore) {
    static const repeatable_script script{"return 'nobody keeps me'"};
    const fake_server server{forgetful(std::string(40, 'a'))};
    client redis{server.url()};
    for (std::size_t i = 1; i <= 3; ++i) {
        const auto failure = thrown_by([&] { return run(*redis.pool(), script.call({"lock:a"})); });
        EXPECT_EQ(failure.code(), errc::no_script);
        EXPECT_FALSE(failure.temporary());
        EXPECT_THAT(failure.text(), HasSubstr("\"lock:a\""));
        EXPECT_EQ(server.commands(named("EVALSHA")), i);
        EXPECT_EQ(server.commands(named("EVAL")), i);
    }
    EXPECT_EQ(server.commands(named("SCRIPT")), 1U);
}

TEST(ForgetfulServer, IsAskedTwiceInAPipelineAndNoMore) {
    static const script forgotten{"return 'nobody keeps me either'"};
    const fake_server server{forgetful(std::string(40, 'b'))};
    connection redis{endpoint::parse(server.url())};
    const std::array calls{forgotten.call({"a"}), forgotten.call({"b"})};
    const auto answers = run_all(redis, calls);
    ASSERT_EQ(answers.size(), 2U);
    for (const auto& answer : answers)
        EXPECT_EQ(classify_error_reply(answer.text()), errc::no_script);
    EXPECT_EQ(server.commands(named("EVALSHA")), 2U);
    EXPECT_EQ(server.commands(named("EVAL")), 2U);
}

TEST(ForgetfulServer, ThatForgetsWhileLoadingIsAnError) {
    static const repeatable_script script{"return 'not even loaded'"};
    const fake_server server{always_error("NOSCRIPT No matching script.")};
    client redis{server.url()};
    EXPECT_EQ(thrown_by([&] { return run(*redis.pool(), script.call({"a"})); }).code(), errc::no_script);
    EXPECT_LE(server.commands().size(), 2U);
}

// The hash is kept for the life of the process, and used on every server: nonsense must not get in.
TEST_F(ScriptRefused, NonsenseForAHashIsNotLearned) {
    static const repeatable_script script{"return 'well known'"};
    for (const auto* nonsense : {"+OK\r\n", ":1\r\n", "$-1\r\n", "$3\r\nabc\r\n", "*0\r\n",
                                 "$40\r\nzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\r\n"}) {
        const fake_server liar{always(nonsense)};
        client redis{liar.url()};
        EXPECT_EQ(thrown_by([&] { return run(*redis.pool(), script.call({"a"})); }).code(), errc::protocol) << nonsense;
        EXPECT_EQ(script.hash(), "");
    }
    client redis{server.url()};
    EXPECT_EQ(run(*redis.pool(), script.call({"a"})).text(), "well known");
    EXPECT_EQ(raw.calls("eval"), 0) << "it went by its text, not by its hash";
}

// Case N10: whatever of the rights is missing, it is a matter of permission.
TEST_F(ScriptRefused, AccountWithoutScriptingIsToldSo) {
    static const repeatable_script script{"return 'only for others'"};
    const auto limited = without_scripting(server);
    client redis{limited.url()};
    const auto unknown = thrown_by([&] { return run(*redis.pool(), script.call({"lock:a"})); });
    EXPECT_EQ(unknown.code(), errc::no_permission);
    EXPECT_FALSE(unknown.temporary());
    client mighty{server.url()};
    EXPECT_EQ(run(*mighty.pool(), script.call({"lock:a"})).text(), "only for others");
    const auto known = thrown_by([&] { return run(*redis.pool(), script.call({"lock:a"})); });
    EXPECT_EQ(known.code(), errc::no_permission);
    EXPECT_THAT(known.text(), HasSubstr("EVALSHA \"lock:a\""));
}

TEST_F(ScriptRefused, AccountWithoutTheCommandInsideOrTheKeyIsToldSo) {
    static const repeatable_script script{"return redis.call('SET', KEYS[1], 'x')"};
    const auto commands = rights(server, {"~*", "+@all", "-set"});
    EXPECT_EQ(thrown_by([&] { return run(*client{commands.url()}.pool(), script.call({"a"})); }).code(),
              errc::no_permission);
    const auto keys = only_keys(server, "app:*");
    EXPECT_EQ(thrown_by([&] { return run(*client{keys.url()}.pool(), script.call({"a"})); }).code(),
              errc::no_permission);
    EXPECT_EQ(raw.exists("a"), 0);
}

TEST_F(ScriptRefused, AccountThatMayOnlyRunWhatIsLoadedDoesSo) {
    static const repeatable_script script{"return 'loaded by another'"};
    client mighty{server.url()};
    EXPECT_EQ(run(*mighty.pool(), script.call({"a"})).text(), "loaded by another");
    const auto limited = rights(server, {"~*", "+evalsha"});
    client redis{limited.url()};
    EXPECT_EQ(run(*redis.pool(), script.call({"a"})).text(), "loaded by another");
    flush_scripts(server);
    EXPECT_EQ(thrown_by([&] { return run(*redis.pool(), script.call({"a"})); }).code(), errc::no_permission);
}

}  // namespace
}  // namespace tranca::testing
