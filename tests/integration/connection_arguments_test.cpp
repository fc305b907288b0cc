// Arguments and replies of any bytes (case H11).
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <tranca/connection.hpp>

#include "support/fault.hpp"
#include "support/redis_fixture.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::string_literals;

class ConnectionArguments : public redis_fixture {
protected:
    connection redis{endpoint::parse(server.url())};
};

const std::vector<std::string> odd_names{"a%s%n"s,
                                         "100%"s,
                                         "%b"s,
                                         "%.*s%n%n"s,
                                         "a b"s,
                                         " "s,
                                         "a\r\nSET x 1"s,
                                         "\"q\""s,
                                         "'q'"s,
                                         "a\0b"s,
                                         "a\0c"s,
                                         "\0"s,
                                         "\xff\xff"s,
                                         "\xf0\x9f\x94\x92"s,
                                         "caf\xc3\xa9"s,
                                         "cafe\xcc\x81"s,
                                         "*1\r\n$4\r\nQUIT\r\n"s,
                                         std::string(1U << 20U, 'n')};

TEST_F(ConnectionArguments, ArriveAsTheyAreEachANameOfItsOwn) {
    for (const auto& name : odd_names)
        EXPECT_TRUE(redis.command(request{"SET", key{name}, "of " + name}).is_ok());
    for (const auto& name : odd_names) {
        EXPECT_EQ(raw.get(name), "of " + name);
        EXPECT_EQ(redis.command(request{"GET", name}).text(), "of " + name);
    }
    EXPECT_EQ(raw.dbsize(), static_cast<std::int64_t>(odd_names.size()));
    EXPECT_EQ(raw.exists("x"), 0);
}

TEST_F(ConnectionArguments, MayBeEmpty) {
    EXPECT_TRUE(redis.command(request{"SET", "", ""}).is_ok());
    EXPECT_EQ(raw.get(""), "");
    EXPECT_EQ(redis.command(request{"GET", ""}).text(), "");
}

TEST_F(ConnectionArguments, MayBeManyMebibytes) {
    std::string large(std::size_t{16} << 20U, '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>(i * 31 + i / 4'099);
    EXPECT_TRUE(redis.command(request{"SET", "large", large}).is_ok());
    EXPECT_TRUE(raw.get("large") == large);
    EXPECT_TRUE(redis.command(request{"GET", "large"}).text() == large);
}

TEST_F(ConnectionArguments, MayBeManyThousands) {
    std::vector<std::string> names;
    for (int i = 0; i < 20'000; ++i)
        names.push_back("member-" + std::to_string(i));
    std::vector<std::string_view> words{"SADD", "set"};
    words.insert(words.end(), names.begin(), names.end());
    request addition;
    addition.add_all(words);
    EXPECT_EQ(redis.command(addition).integer(), 20'000);
    EXPECT_EQ(redis.command(request{"SMEMBERS", "set"}).size(), 20'000U);
}

// The server refuses while most of the argument is still on its way, and hangs up.
TEST_F(ConnectionArguments, LargerThanTheServerTakesAreAnError) {
    const fault narrow{
        [&, before = raw.config_get("proto-max-bulk-len")] { raw.config_set("proto-max-bulk-len", before); }};
    raw.config_set("proto-max-bulk-len", "1048576");
    const request large{"SET", "large", std::string(std::size_t{32} << 20U, 'x')};
    for (int i = 0; i < 5; ++i) {
        connection line{endpoint::parse(server.url())};
        const auto failure = thrown_by([&] { return line.command(large); });
        EXPECT_THAT(failure.reason(), ::testing::AnyOf(errc::server, errc::connection_lost)) << failure.what();
        EXPECT_FALSE(line.usable() && !line.stale());
    }
    EXPECT_EQ(raw.exists("large"), 0);
}

TEST_F(ConnectionArguments, OfAnErrorReplyComeBackReadable) {
    const auto failure = thrown_by([&] { return redis.command(request{"LPUSH", "a\0\n\x1b"s}); });
    EXPECT_EQ(failure.code(), errc::server);
    EXPECT_THAT(failure.text(), ::testing::HasSubstr("LPUSH \"a\\x00\\x0a\\x1b\""));
    EXPECT_TRUE(redis.usable());
}

}  // namespace
}  // namespace tranca::testing
