// Replies of every kind, asked for rightly and wrongly.
#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tranca/reply.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::string_literals;
using kind = reply_view::kind;

static_assert(!std::is_copy_constructible_v<reply> && std::is_nothrow_move_constructible_v<reply>);
static_assert(std::is_trivially_copyable_v<reply_view>);

TEST(Reply, KnowsItsKind) {
    EXPECT_EQ(reply::parse("$-1\r\n").what(), kind::nil);
    EXPECT_EQ(reply::parse("*-1\r\n").what(), kind::nil);
    EXPECT_EQ(reply::parse(":1\r\n").what(), kind::integer);
    EXPECT_EQ(reply::parse("$1\r\na\r\n").what(), kind::text);
    EXPECT_EQ(reply::parse("+a\r\n").what(), kind::status);
    EXPECT_EQ(reply::parse("-ERR a\r\n").what(), kind::error);
    EXPECT_EQ(reply::parse("*0\r\n").what(), kind::array);
}

TEST(Reply, HoldsIntegersExactly) {
    EXPECT_EQ(reply::parse(":0\r\n").integer(), 0);
    EXPECT_EQ(reply::parse(":-1\r\n").integer(), -1);
    EXPECT_EQ(reply::parse(":9223372036854775807\r\n").integer(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(reply::parse(":-9223372036854775808\r\n").integer(), std::numeric_limits<std::int64_t>::min());
}

TEST(Reply, HoldsAnyBytes) {
    EXPECT_EQ(reply::parse("$0\r\n\r\n").text(), "");
    EXPECT_EQ(reply::parse("$6\r\na\0b\r\nc\r\n"s).text(), "a\0b\r\nc"s);
    const std::string large(3'000'000, '\xff');
    EXPECT_EQ(reply::parse("$3000000\r\n" + large + "\r\n").text(), large);
}

TEST(Reply, HasTheTextOfAnErrorWithoutItsDash) {
    const auto refusal = reply::parse("-WRONGTYPE Operation\r\n");
    EXPECT_TRUE(refusal.is_error());
    EXPECT_EQ(refusal.text(), "WRONGTYPE Operation");
}

TEST(Reply, IsOkOnlyAsTheStatus) {
    EXPECT_TRUE(reply::parse("+OK\r\n").is_ok());
    EXPECT_FALSE(reply::parse("$2\r\nOK\r\n").is_ok());
    EXPECT_FALSE(reply::parse("+OKAY\r\n").is_ok());
    EXPECT_FALSE(reply::parse("+ok\r\n").is_ok());
    EXPECT_FALSE(reply::parse("-OK\r\n").is_ok());
    EXPECT_FALSE(reply::parse(":1\r\n").is_ok());
    EXPECT_FALSE(reply::parse("$-1\r\n").is_ok());
}

TEST(Reply, AskedForTheWrongKindIsAProtocolError) {
    const std::vector<std::string_view> all{"$-1\r\n", ":1\r\n", "$1\r\na\r\n", "+a\r\n", "-a\r\n", "*0\r\n"};
    for (const auto bytes : all) {
        const auto answer = reply::parse(bytes);
        const bool is_text = bytes[1] != '-' && (bytes[0] == '$' || bytes[0] == '+' || bytes[0] == '-');
        if (bytes[0] != ':') {
            EXPECT_EQ(thrown_by([&] { return answer.integer(); }).code(), errc::protocol) << bytes;
        }
        if (!is_text) {
            EXPECT_EQ(thrown_by([&] { return answer.text(); }).code(), errc::protocol) << bytes;
        }
        if (bytes[0] != '*') {
            EXPECT_EQ(thrown_by([&] { return answer.size(); }).code(), errc::protocol) << bytes;
            EXPECT_EQ(thrown_by([&] { return answer[0]; }).code(), errc::protocol) << bytes;
        }
    }
}

TEST(Reply, HasNoElementBehindItsEnd) {
    EXPECT_EQ(thrown_by([] { return reply::parse("*0\r\n")[0]; }).code(), errc::protocol);
    const auto one = reply::parse("*1\r\n:7\r\n");
    EXPECT_EQ(one[0].integer(), 7);
    EXPECT_EQ(thrown_by([&] { return one[1]; }).code(), errc::protocol);
    EXPECT_EQ(thrown_by([&] { return one[std::numeric_limits<std::size_t>::max()]; }).code(), errc::protocol);
}

TEST(Reply, HoldsArraysInArrays) {
    const auto answer = reply::parse("*3\r\n*2\r\n:1\r\n$-1\r\n-ERR inside\r\n*1\r\n*1\r\n+deep\r\n");
    ASSERT_EQ(answer.size(), 3U);
    EXPECT_EQ(answer[0][0].integer(), 1);
    EXPECT_TRUE(answer[0][1].is_nil());
    EXPECT_TRUE(answer[1].is_error());
    EXPECT_FALSE(answer.is_error());
    EXPECT_EQ(answer[2][0][0].text(), "deep");
}

TEST(Reply, HoldsAsManyElementsAsThereAre) {
    std::string bytes = "*100000\r\n";
    for (int i = 0; i < 100'000; ++i)
        bytes += ":" + std::to_string(i) + "\r\n";
    const auto answer = reply::parse(bytes);
    ASSERT_EQ(answer.size(), 100'000U);
    EXPECT_EQ(answer[99'999].integer(), 99'999);
}

TEST(Reply, KeepsItsMemoryWhenMoved) {
    auto first = reply::parse("$5\r\nhello\r\n");
    const auto text = first.text();
    const reply second = std::move(first);
    EXPECT_EQ(second.text(), "hello");
    EXPECT_EQ(second.text().data(), text.data());
}

TEST(Reply, RefusesWhatIsNotWhole) {
    const std::string whole = "*2\r\n$5\r\nhello\r\n*2\r\n:1\r\n-ERR x\r\n";
    EXPECT_NO_THROW(static_cast<void>(reply::parse(whole)));
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_EQ(thrown_by([&] { return reply::parse(whole.substr(0, size)); }).code(), errc::protocol) << size;
}

TEST(Reply, RefusesWhatFollows) {
    for (const auto* bytes : {"+OK\r\n+OK\r\n", ":1\r\n\r\n", "$-1\r\nx", "*0\r\n*0\r\n"})
        EXPECT_EQ(thrown_by([&] { return reply::parse(bytes); }).code(), errc::protocol) << bytes;
    const auto large = "$2000\r\n" + std::string(2'000, 'x') + "\r\n";  // hiredis moves its buffer in between
    EXPECT_EQ(thrown_by([&] { return reply::parse(large + "!"); }).code(), errc::protocol);
}

TEST(Reply, RefusesWhatIsNoReply) {
    for (const auto& bytes :
         {"hello\r\n"s, "\0\0\0\0"s, "\xff\xff\r\n"s, "\x16\x03\x01\x02"s, "HTTP/1.1 400 Bad Request\r\n\r\n"s, "\r\n"s,
          "&1\r\n"s, ":x\r\n"s, ":\r\n"s, ":1x\r\n"s, ":99999999999999999999\r\n"s, "$x\r\n"s, "$-2\r\n"s,
          "$99999999999999999999\r\n"s, "*x\r\n"s, "*-2\r\n"s, "*1\r\n!\r\n"s})
        EXPECT_EQ(thrown_by([&] { return reply::parse(bytes); }).code(), errc::protocol) << bytes;
}

TEST(Reply, RefusesADepthThatNoCommandOfRedisHas) {
    std::string bytes;
    for (int depth = 0; depth < 1'000'000; ++depth)
        bytes += "*1\r\n";
    EXPECT_EQ(thrown_by([&] { return reply::parse(bytes + ":1\r\n"); }).code(), errc::protocol);
}

// Every single byte changed in every way: an answer or a protocol error, nothing else.
TEST(Reply, SurvivesDamage) {
    const std::string whole = "*3\r\n$3\r\nabc\r\n:12\r\n*1\r\n-ERR\r\n";
    for (std::size_t place = 0; place < whole.size(); ++place)
        for (int byte = 0; byte < 256; ++byte) {
            auto damaged = whole;
            damaged[place] = static_cast<char>(byte);
            try {
                static_cast<void>(reply::parse(damaged).what());
            } catch (const error& failure) {
                ASSERT_EQ(failure.code(), errc::protocol) << place << ' ' << byte;
            }
        }
}

}  // namespace
}  // namespace tranca::testing
