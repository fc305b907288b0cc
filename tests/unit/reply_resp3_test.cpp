// RESP3's kinds of reply, which a hiredis older than 1.0 does not know (case H17).
#include <gtest/gtest.h>

#include <string>

#include <tranca/reply.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::string_literals;
using kind = reply_view::kind;

#ifdef TRANCA_TEST_RESP3

TEST(Resp3Reply, NullIsNil) { EXPECT_TRUE(reply::parse("_\r\n").is_nil()); }

TEST(Resp3Reply, BooleanIsAnInteger) {
    EXPECT_EQ(reply::parse("#t\r\n").integer(), 1);
    EXPECT_EQ(reply::parse("#f\r\n").integer(), 0);
}

TEST(Resp3Reply, DoubleIsText) {
    EXPECT_EQ(reply::parse(",1.5\r\n").text(), "1.5");
    EXPECT_EQ(reply::parse(",inf\r\n").text(), "inf");
    EXPECT_EQ(thrown_by([] { return reply::parse(",1.5\r\n").integer(); }).code(), errc::protocol);
}

TEST(Resp3Reply, BigNumberIsText) {
    EXPECT_EQ(reply::parse("(3492890328409238509324850943850943825024385\r\n").text(),
              "3492890328409238509324850943850943825024385");
}

TEST(Resp3Reply, VerbatimTextIsTextWithoutItsFormat) {
    EXPECT_EQ(reply::parse("=8\r\ntxt:a\0bc\r\n"s).text(), "a\0bc"s);
}

TEST(Resp3Reply, MapIsAnArrayOfNamesAndValues) {
    const auto map = reply::parse("%2\r\n+a\r\n:1\r\n+b\r\n#t\r\n");
    EXPECT_EQ(map.what(), kind::array);
    ASSERT_EQ(map.size(), 4U);
    EXPECT_EQ(map[2].text(), "b");
    EXPECT_EQ(map[3].integer(), 1);
}

TEST(Resp3Reply, SetAndPushAreArrays) {
    EXPECT_EQ(reply::parse("~1\r\n+a\r\n")[0].text(), "a");
    EXPECT_EQ(reply::parse(">2\r\n+invalidate\r\n_\r\n").size(), 2U);
}

#else

TEST(Resp3Reply, IsRefusedByAHiredisThatDoesNotKnowIt) {
    for (const auto* bytes : {"_\r\n", "#t\r\n", ",1.5\r\n", "(1\r\n", "%0\r\n", "~0\r\n", ">0\r\n"})
        EXPECT_EQ(thrown_by([&] { return reply::parse(bytes); }).code(), errc::protocol) << bytes;
}

#endif

}  // namespace
}  // namespace tranca::testing
