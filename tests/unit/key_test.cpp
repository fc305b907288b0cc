// Names in Redis: sizes, bytes, and how they are shown.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tranca/key.hpp>
#include <tranca/token.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::string_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

static_assert(!std::is_convertible_v<std::string, key>, "a key must not change places with a token or a text");
static_assert(!std::is_convertible_v<const char*, key>);
static_assert(!std::is_convertible_v<key, std::string_view>);
static_assert(!std::is_constructible_v<key, token>);

TEST(Key, KeepsEveryByte) {
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte)
        every_byte += static_cast<char>(byte);
    EXPECT_EQ(key{every_byte}.bytes(), every_byte);
    EXPECT_EQ(key{" a b "}.bytes(), " a b ");
    EXPECT_EQ(key{"\0"s}.bytes(), "\0"s);
}

TEST(Key, IsAnotherOneForOtherBytes) {
    EXPECT_NE(key{"a\0b"s}, key{"a\0c"s});
    EXPECT_NE(key{"a"}, key{"a\0"s});
    EXPECT_NE(key{"a"}, key{"A"});
    EXPECT_NE(key{"caf\xc3\xa9"}, key{"cafe\xcc\x81"});  // the same word, composed and decomposed
    EXPECT_EQ(key{"a\0b"s}, key{"a\0b"s});
}

TEST(Key, RefusesTheEmptyOne) {
    const auto failure = thrown_by([] { return key{""}; });
    EXPECT_EQ(failure.code(), errc::invalid_argument);
    EXPECT_THAT(failure.text(), HasSubstr("key"));
}

TEST(Key, TakesOneMebibyteAndNotAByteMore) {
    EXPECT_EQ(key{std::string(key::max_size, 'x')}.bytes().size(), 1'048'576U);
    const auto failure = thrown_by([] { return key{std::string(key::max_size + 1, 'x')}; });
    EXPECT_EQ(failure.code(), errc::invalid_argument);
    EXPECT_THAT(failure.text(), HasSubstr("1048577"));
    EXPECT_THAT(failure.text(), HasSubstr("1048576"));
    EXPECT_LT(failure.text().size(), 300U) << "the text must not hold the whole name";
}

TEST(PrefixedKey, IsThePrefixAndTheName) {
    EXPECT_EQ(prefixed_key("lock:", "a").bytes(), "lock:a");
    EXPECT_EQ(prefixed_key("", "a").bytes(), "a");
    EXPECT_EQ(prefixed_key("p\0"s, "n\0m"s).bytes(), "p\0n\0m"s);
}

TEST(PrefixedKey, RefusesAnEmptyNameWhateverThePrefix) {
    for (const auto* prefix : {"", "lock:"}) {
        const auto failure = thrown_by([&] { return prefixed_key(prefix, ""); });
        EXPECT_EQ(failure.code(), errc::invalid_argument);
        EXPECT_THAT(failure.text(), HasSubstr("name"));
    }
}

TEST(PrefixedKey, CountsThePrefixInTheSize) {
    EXPECT_NO_THROW(static_cast<void>(prefixed_key("lock:", std::string(key::max_size - 5, 'x'))));
    const auto failure = thrown_by([] { return prefixed_key("lock:", std::string(key::max_size - 4, 'x')); });
    EXPECT_EQ(failure.code(), errc::invalid_argument);
}

TEST(Printable, LeavesPrintableAsciiAlone) {
    std::string ascii;
    for (char c = ' '; c <= '~'; ++c)
        if (c != '\\') ascii += c;
    EXPECT_EQ(printable(ascii), ascii);
    EXPECT_EQ(printable(""), "");
    EXPECT_EQ(key{"invoice 7%s"}.printable(), "invoice 7%s");
}

TEST(Printable, EscapesEveryOtherByte) {
    EXPECT_EQ(printable("\0"s), "\\x00");
    EXPECT_EQ(printable("a\r\nb"), "a\\x0d\\x0ab");
    EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
    EXPECT_EQ(printable("\x7f\x80\xff"), "\\x7f\\x80\\xff");
}

TEST(Printable, EscapesTheBackslashSoThatNoTwoNamesLookAlike) {
    EXPECT_EQ(printable("\\x00"), "\\x5cx00");
    EXPECT_NE(printable("\\x00"), printable("\0"s));
}

TEST(Printable, NeverExceedsItsLimit) {
    const std::vector<std::string> texts{std::string(300, 'x'), std::string(300, '\0'),
                                         "ab"s + std::string(300, '\xff'), std::string(99, 'x') + "\n",
                                         std::string(98, 'x') + "\nyz"};
    for (const auto& text : texts)
        for (std::size_t limit = 10; limit <= 120; ++limit)
            ASSERT_LE(printable(text, limit).size(), limit) << text;
}

TEST(Printable, SaysThatItLeftSomethingOut) {
    EXPECT_EQ(printable(std::string(100, 'x')), std::string(100, 'x'));
    EXPECT_THAT(printable(std::string(101, 'x')), StartsWith("xxx"));
    EXPECT_THAT(printable(std::string(101, 'x')), EndsWith("x..."));
    EXPECT_THAT(printable(std::string(26, '\0')), EndsWith("\\x00..."));  // no escape is cut in two
}

}  // namespace
}  // namespace tranca::testing
