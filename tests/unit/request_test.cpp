// Commands as counted arguments, and how they are described.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/request.hpp>

#include "support/resp.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

static_assert(request_argument<std::string> && request_argument<std::string_view> && request_argument<char[3]>);
static_assert(request_argument<key> && request_argument<token> && request_argument<milliseconds>);
static_assert(request_argument<int> && request_argument<std::uint64_t> && request_argument<std::int8_t>);
static_assert(!request_argument<bool>, "true is neither 1 nor \"true\"");
static_assert(!request_argument<double>, "a fraction would depend on its formatting");
static_assert(!request_argument<std::chrono::seconds>, "the server would take seconds for milliseconds");
static_assert(!request_argument<std::nullptr_t>);

TEST(Request, CountsItsArgumentsAndTheirBytes) {
    const request set{"SET", "key", "value"};
    EXPECT_EQ(set.bytes(), "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
    EXPECT_EQ(set.size(), 1U);
    EXPECT_EQ(request{"PING"}.bytes(), "*1\r\n$4\r\nPING\r\n");
}

TEST(Request, IsEmptyUntilACommandIsAdded) {
    EXPECT_EQ(request{}.size(), 0U);
    EXPECT_EQ(request{}.bytes(), "");
    EXPECT_EQ(request{}.describe(), "nothing");
}

TEST(Request, TakesAnyBytes) {
    for (const auto& argument : {""s, "a%s%n"s, "100%"s, "%b"s, "a b"s, "a\r\nSET x 1"s, "\"q\""s, "a\0b"s, "\xff\xfe"s,
                                 "\xf0\x9f\x94\x92"s, "*1\r\n$4\r\nQUIT\r\n"s}) {
        const request set{"SET", argument, argument};
        EXPECT_THAT(command_words(set.bytes()), ElementsAre("SET", argument, argument));
        EXPECT_EQ(set.bytes().size(), frame_length(set.bytes()));
    }
}

TEST(Request, TakesAMebibyte) {
    std::string large(std::size_t{1} << 20U, '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>(i * 7);
    EXPECT_THAT(command_words(request{"SET", large, large}.bytes()), ElementsAre("SET", large, large));
}

TEST(Request, WritesWholeNumbersExactly) {
    const request numbers{"N",
                          0,
                          -1,
                          std::int8_t{-128},
                          std::uint8_t{255},
                          std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::max(),
                          std::numeric_limits<std::uint64_t>::max()};
    EXPECT_THAT(command_words(numbers.bytes()), ElementsAre("N", "0", "-1", "-128", "255", "-9223372036854775808",
                                                            "9223372036854775807", "18446744073709551615"));
}

TEST(Request, WritesKeysTokensAndDurations) {
    const auto mine = token::generate();
    const request set{"SET", key{"lock:\0a"s}, mine, "NX", "PX", milliseconds{10s}};
    EXPECT_THAT(command_words(set.bytes()), ElementsAre("SET", "lock:\0a"s, mine.text(), "NX", "PX", "10000"));
}

TEST(Request, BecomesAPipelineByAdding) {
    request both{"GET", "a"};
    both.add("PTTL", "a").add("PING");
    EXPECT_EQ(both.size(), 3U);
    std::string one_by_one;
    for (const auto& command : {request{"GET", "a"}, request{"PTTL", "a"}, request{"PING"}})
        one_by_one += command.bytes();
    EXPECT_EQ(both.bytes(), one_by_one);
}

TEST(Request, TakesTheCommandsOfAnother) {
    request all;
    all.add_request(request{"GET", "a"}.add("GET", "b")).add_request(request{}).add_request(request{"PING"});
    EXPECT_EQ(all.size(), 3U);
    EXPECT_EQ(all.bytes(), (request{"GET", "a"}.add("GET", "b").add("PING").bytes()));
}

TEST(Request, TakesArgumentsCountedAtRunTime) {
    const std::vector<std::string_view> words{"DEL", "a", std::string_view{"b\0c", 3}};
    request removal;
    removal.add_all(words);
    EXPECT_EQ(removal.bytes(), (request{"DEL", "a", "b\0c"s}.bytes()));
    EXPECT_EQ(removal.size(), 1U);
}

// An array of no arguments is a command the server never answers.
TEST(Request, RefusesACommandOfNothing) {
    request nothing;
    EXPECT_EQ(thrown_by([&] { nothing.add_all({}); }).code(), errc::invalid_argument);
    EXPECT_EQ(nothing.size(), 0U);
    EXPECT_EQ(nothing.bytes(), "");
}

TEST(Request, CopyWithOtherFirstTwoKeepsTheRest) {
    const auto long_text = std::string(5'000, '\n');
    const request by_hash{"EVALSHA", "", 2, "k\r\n1", "k\0002"s, "argument"};
    EXPECT_EQ(by_hash.with_first_two("EVAL", long_text).bytes(),
              (request{"EVAL", long_text, 2, "k\r\n1", "k\0002"s, "argument"}.bytes()));
    EXPECT_EQ((request{"A", "b"}.with_first_two("C", "").bytes()), (request{"C", ""}.bytes()));
    EXPECT_EQ((request{"A", "b"}.with_first_two("C", "d").size()), 1U);
}

TEST(Request, KnowsCommandsThatChangeTheConnection) {
    for (const auto* name : {"SELECT", "select", "AUTH", "HELLO", "RESET", "MULTI", "WATCH", "SUBSCRIBE", "PSUBSCRIBE",
                             "SSUBSCRIBE", "MONITOR", "READONLY", "READWRITE", "ASKING", "QUIT"})
        EXPECT_TRUE((request{name, "x"}.changes_connection())) << name;
    for (const auto* name : {"SETNAME", "setname", "SETINFO", "REPLY", "TRACKING", "CACHING", "NO-EVICT", "NO-TOUCH"})
        EXPECT_TRUE((request{"CLIENT", name, "x"}.changes_connection())) << name;
    EXPECT_TRUE(request{"MULTI"}.changes_connection());
}

TEST(Request, KnowsCommandsThatLeaveTheConnectionAsItWas) {
    EXPECT_FALSE(request{}.changes_connection());
    EXPECT_FALSE(request{"PING"}.changes_connection());
    EXPECT_FALSE((request{"SET", "SELECT", "MULTI"}.changes_connection()));
    EXPECT_FALSE((request{"SELECTED"}.changes_connection()));
    EXPECT_FALSE((request{""}.changes_connection()));
    EXPECT_FALSE((request{"CLIENT"}.changes_connection()));
    EXPECT_FALSE((request{"CLIENT", "ID"}.changes_connection()));
    EXPECT_FALSE((request{"CLIENT", "KILL", "SETNAME"}.changes_connection()));
}

TEST(RequestDescription, IsTheCommandAndItsKey) {
    EXPECT_EQ((request{"SET", "lock:a", "value", "NX"}.describe()), "SET \"lock:a\"");
    EXPECT_EQ((request{"EVALSHA", "0123", 1, "lock:a", "argument"}.describe()), "EVALSHA \"lock:a\"");
    EXPECT_EQ((request{"EVAL", "return 1", 2, "a", "b"}.describe()), "EVAL \"a\"");
    EXPECT_EQ(request{"PING"}.describe(), "PING");
    EXPECT_EQ((request{"GET", "a"}.add("GET", "b").describe()), "GET \"a\"");
    EXPECT_EQ(request{"MULTI"}.add("SET", "k", "v").add("EXEC").describe(), "SET \"k\"");
    EXPECT_EQ(request{"MULTI"}.describe(), "MULTI");
}

TEST(RequestDescription, ShowsNamesOfAnyBytesShortAndEscaped) {
    EXPECT_EQ((request{"GET", "a\0b\n"s}.describe()), "GET \"a\\x00b\\x0a\"");
    EXPECT_LT((request{"GET", std::string(1'000'000, 'k')}.describe().size()), 120U);
    EXPECT_LT((request{std::string(1'000, 'C'), "k"}.describe().size()), 50U);
    EXPECT_EQ((request{"GET", "%s%n"}.describe()), "GET \"%s%n\"");
}

// Whatever the spelling: Redis takes any case.
TEST(RequestDescription, NeverShowsASecret) {
    const auto secret = token::generate();
    const std::vector<request> all{request{"AUTH", secret},
                                   request{"AUTH", "user", secret},
                                   request{"auth", secret},
                                   request{"Auth", secret},
                                   request{"HELLO", 3, "AUTH", "user", secret},
                                   request{"hello", secret},
                                   request{"SET", "k", secret},
                                   request{"MULTI"}.add("AUTH", secret).add("EXEC"),
                                   request{"multi"}.add("auth", secret),
                                   request{"EVALSHA", "0123", 1, "k", secret},
                                   request{"EVALSHA", "0123", 0, secret},
                                   request{"EVAL", "return 1", 0, secret},
                                   request{"eval", secret, 0},
                                   request{"EVAL_RO", secret, 0},
                                   request{"evalsha_ro", "0123", 0, secret},
                                   request{"FCALL", "f", 0, secret},
                                   request{"SCRIPT", "LOAD", secret},
                                   request{"CLIENT", "SETNAME", secret},
                                   request{"CONFIG", "SET", "requirepass", secret},
                                   request{"ACL", "SETUSER", "u", secret},
                                   request{"MIGRATE", "host", 1, "", 0, 10, "AUTH", secret},
                                   request{"ECHO", secret},
                                   request{"PING", secret}};
    for (const auto& command : all)
        EXPECT_THAT(command.describe(), Not(HasSubstr(secret.text())));
}

TEST(RequestDescription, ShowsTheKeyInAnySpelling) {
    EXPECT_EQ((request{"evalsha", "0123", 1, "k", "v"}.describe()), "evalsha \"k\"");
    EXPECT_EQ((request{"EVAL_RO", "return 1", 1, "k"}.describe()), "EVAL_RO \"k\"");
    EXPECT_EQ((request{"FCALL", "f", 1, "k", "v"}.describe()), "FCALL \"k\"");
    EXPECT_EQ((request{"multi"}.add("set", "k", "v").describe()), "set \"k\"");
}

TEST(Request, KnowsItsFirstKey) {
    EXPECT_EQ(request("GET", "a").first_key(), "a");
    EXPECT_EQ(request("set", "a b\r\n", "c").first_key(), "a b\r\n");
    EXPECT_EQ(request("EVALSHA", "0123", 2, "a", "b", "c").first_key(), "a");
    EXPECT_EQ(request("fcall", "f", 1, "a").first_key(), "a");
    EXPECT_EQ(request("GET", "a").add("GET", "b").first_key(), "a");
    for (const auto& keyless : {request{}, request{"PING"}, request{"INFO", "server"}, request{"CLUSTER", "SLOTS"},
                                request{"EVAL", "return 1", 0}, request{"EVAL", "return 1", 0, "a"},
                                request{"EVAL", "return 1"}, request{"GET"}})
        EXPECT_EQ(keyless.first_key(), "") << keyless.describe();
}

TEST(Request, CanPutAnotherCommandBeforeEach) {
    const auto mixed = request{"GET", "a"}.add("PTTL", "*1\r\n$1\r\nb\r\n").each_after(request{"ASKING"});
    EXPECT_EQ(mixed.size(), 4u);
    EXPECT_EQ(mixed.bytes(), request{"ASKING"}.add("GET", "a").add("ASKING").add("PTTL", "*1\r\n$1\r\nb\r\n").bytes());
    EXPECT_EQ(request{}.each_after(request{"ASKING"}).size(), 0u);
}

}  // namespace
}  // namespace tranca::testing
