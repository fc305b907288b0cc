// Redis URLs that can be read, and what is read from them.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include <tranca/endpoint.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using transport = endpoint::transport;

TEST(Endpoint, IsTheLocalRedisByDefault) {
    const endpoint local;
    EXPECT_EQ(local.kind, transport::tcp);
    EXPECT_EQ(local.host, "127.0.0.1");
    EXPECT_EQ(local.port, 6379);
    EXPECT_EQ(local.database, 0);
    EXPECT_TRUE(local.user.empty() && local.password.empty() && local.client_name.empty() && local.path.empty());
    EXPECT_EQ(local.connect_timeout, 1s);
    EXPECT_EQ(local.command_timeout, 1s);
    EXPECT_TRUE(local.tls.verify);
    EXPECT_NO_THROW(local.validate());
}

TEST(Endpoint, ReadsHostPortAndDatabase) {
    const auto short_one = endpoint::parse("redis://cache");
    EXPECT_EQ(short_one.kind, transport::tcp);
    EXPECT_EQ(short_one.host, "cache");
    EXPECT_EQ(short_one.port, 6379);
    EXPECT_EQ(short_one.database, 0);
    const auto whole = endpoint::parse("redis://cache.example.com:6380/15");
    EXPECT_EQ(whole.host, "cache.example.com");
    EXPECT_EQ(whole.port, 6380);
    EXPECT_EQ(whole.database, 15);
    EXPECT_EQ(endpoint::parse("redis://h:65535").port, 65535);
    EXPECT_EQ(endpoint::parse("redis://h:1/").database, 0);
}

TEST(Endpoint, ReadsIpv6InBrackets) {
    const auto local = endpoint::parse("redis://[::1]:7000/2");
    EXPECT_EQ(local.host, "::1");
    EXPECT_EQ(local.port, 7000);
    EXPECT_EQ(local.database, 2);
    EXPECT_EQ(endpoint::parse("redis://u:p@[2001:db8::7]").host, "2001:db8::7");
    EXPECT_EQ(endpoint::parse("redis://u:p@[2001:db8::7]").port, 6379);
    EXPECT_EQ(endpoint::parse("rediss://[::ffff:10.0.0.1]").host, "::ffff:10.0.0.1");
    EXPECT_EQ(endpoint::parse("redis://[fe80::1%25eth0]:7000").host, "fe80::1%eth0");  // RFC 6874
}

TEST(Endpoint, ReadsUserAndPassword) {
    const auto both = endpoint::parse("redis://worker:secret@h");
    EXPECT_EQ(both.user, "worker");
    EXPECT_EQ(both.password, "secret");
    const auto default_user = endpoint::parse("redis://:secret@h");
    EXPECT_EQ(default_user.user, "");
    EXPECT_EQ(default_user.password, "secret");
    EXPECT_EQ(endpoint::parse("redis://@h").password, "");
    EXPECT_EQ(endpoint::parse("redis://:@h").password, "");
}

struct encoded_text {
    std::string_view in_url;
    std::string decoded;
};

// Case H09: each as it must be written.
TEST(Endpoint, DecodesPercentSignsOfThePasswordOnce) {
    const std::vector<encoded_text> passwords{{"p%40ss", "p@ss"},     {"a%3Ab", "a:b"},
                                              {"a%3ab", "a:b"},       {"a%2Fb", "a/b"},
                                              {"a%23b", "a#b"},       {"a%3Fb", "a?b"},
                                              {"a%25b", "a%b"},       {"a%2525b", "a%25b"},
                                              {"a%2540b", "a%40b"},   {"a%20b", "a b"},
                                              {"%C3%A9", "\xc3\xa9"}, {"%00", "\0"s},
                                              {"a%0D%0Ab", "a\r\nb"}, {"%E2%98%83", "\xe2\x98\x83"}};
    for (const auto& [in_url, decoded] : passwords) {
        EXPECT_EQ(endpoint::parse("redis://:" + std::string{in_url} + "@h:1/3").password, decoded) << in_url;
        const auto with_user = endpoint::parse("redis://" + std::string{in_url} + ":" + std::string{in_url} + "@h");
        EXPECT_EQ(with_user.user, decoded) << in_url;
        EXPECT_EQ(with_user.password, decoded) << in_url;
    }
}

// A plus is a plus: only HTML forms write blanks that way.
TEST(Endpoint, LeavesThePlusAlone) {
    const auto where = endpoint::parse("redis://u+v:a+b@h?client_name=c+d");
    EXPECT_EQ(where.user, "u+v");
    EXPECT_EQ(where.password, "a+b");
    EXPECT_EQ(where.client_name, "c+d");
}

TEST(Endpoint, TakesWhatCannotBeMistakenWithoutEncoding) {
    EXPECT_EQ(endpoint::parse("redis://:a:b@h").password, "a:b");
    EXPECT_EQ(endpoint::parse("redis://:p@ss@h").password, "p@ss");
    EXPECT_EQ(endpoint::parse("redis://:!$&'()*,;=~-._@h").password, "!$&'()*,;=~-._");
    EXPECT_EQ(endpoint::parse("redis://:\xc3\xa9@h").password, "\xc3\xa9");
}

TEST(Endpoint, ReadsUnixSockets) {
    const auto plain = endpoint::parse("unix:///run/redis/redis.sock");
    EXPECT_EQ(plain.kind, transport::unix_socket);
    EXPECT_EQ(plain.path, "/run/redis/redis.sock");
    const auto whole = endpoint::parse("unix://u:p%40@/a%20b/c%3Fd.sock?db=2&command_timeout=50ms");
    EXPECT_EQ(whole.path, "/a b/c?d.sock");
    EXPECT_EQ(whole.user, "u");
    EXPECT_EQ(whole.password, "p@");
    EXPECT_EQ(whole.database, 2);
    EXPECT_EQ(whole.command_timeout, 50ms);
}

TEST(Endpoint, ReadsQueryOptions) {
    const auto where =
        endpoint::parse("redis://h?db=7&connect_timeout=250ms&command_timeout=2s&client_name=worker%2D1");
    EXPECT_EQ(where.database, 7);
    EXPECT_EQ(where.connect_timeout, 250ms);
    EXPECT_EQ(where.command_timeout, 2'000ms);
    EXPECT_EQ(where.client_name, "worker-1");
    EXPECT_EQ(endpoint::parse("redis://h/?db=7").database, 7);
    EXPECT_EQ(endpoint::parse("redis://h?").database, 0);
}

TEST(Endpoint, ReadsTlsOptions) {
    const auto where = endpoint::parse(
        "rediss://h:1?ca_file=/a%20b/ca.pem&ca_directory=/certs&certificate=/c.pem"
        "&private_key=/k.pem&server_name=redis.internal&verify=no");
    EXPECT_EQ(where.kind, transport::tls);
    EXPECT_EQ(where.tls.ca_file, "/a b/ca.pem");
    EXPECT_EQ(where.tls.ca_directory, "/certs");
    EXPECT_EQ(where.tls.certificate, "/c.pem");
    EXPECT_EQ(where.tls.private_key, "/k.pem");
    EXPECT_EQ(where.tls.server_name, "redis.internal");
    EXPECT_FALSE(where.tls.verify);
    EXPECT_TRUE(endpoint::parse("rediss://h?verify=yes").tls.verify);
    EXPECT_TRUE(endpoint::parse("rediss://h").tls.verify);
}

// Case H08.
TEST(Endpoint, TakesTimeLimitsOfOneMillisecondToOneHundredYears) {
    EXPECT_EQ(endpoint::parse("redis://h?command_timeout=1ms").command_timeout, 1ms);
    EXPECT_EQ(endpoint::parse("redis://h?command_timeout=999ms").command_timeout, 999ms);
    EXPECT_EQ(endpoint::parse("redis://h?command_timeout=1001ms").command_timeout, 1'001ms);
    EXPECT_EQ(endpoint::parse("redis://h?connect_timeout=3600s").connect_timeout, 1h);
    EXPECT_EQ(endpoint::parse("redis://h?connect_timeout=3153600000s").connect_timeout, longest_duration);
    EXPECT_EQ(endpoint::parse("redis://h?connect_timeout=007s").connect_timeout, 7s);
}

TEST(Endpoint, ShowsEverythingButThePassword) {
    const auto shown = [](std::string_view url) { return endpoint::parse(url).printable(); };
    EXPECT_EQ(shown("redis://h"), "redis://h:6379");
    EXPECT_EQ(shown("redis://:secret@h:1/5"), "redis://h:1/5");
    EXPECT_EQ(shown("redis://worker:secret@h:1"), "redis://worker@h:1");
    EXPECT_EQ(shown("rediss://worker:secret@[::1]:1/2?verify=no"), "rediss://worker@[::1]:1/2");
    EXPECT_EQ(shown("unix://:secret@/run/r.sock"), "unix:///run/r.sock");
    EXPECT_EQ(shown("unix://u:secret@/run/r.sock?db=3"), "unix://u@/run/r.sock?db=3");
}

TEST(Endpoint, ShowsOddBytesEscaped) {
    endpoint where = endpoint::parse("redis://w%0A%1B:secret@h");
    EXPECT_EQ(where.printable(), "redis://w\\x0a\\x1b@h:6379");
    EXPECT_EQ(endpoint::parse("unix:///run/a%0Ab.sock").printable(), "unix:///run/a\\x0ab.sock");
}

// Members set by hand are taken verbatim: nothing is decoded.
TEST(Endpoint, TakesMembersVerbatim) {
    for (const auto& password : {"p@ss"s, "a:b"s, "a/b"s, "a#b"s, "a?b"s, "a%b"s, "a%40b"s, "a+b"s, "a b"s, "\0"s}) {
        endpoint where;
        where.user = password;
        where.password = password;
        EXPECT_NO_THROW(where.validate());
        EXPECT_EQ(where.password, password);
    }
}

}  // namespace
}  // namespace tranca::testing
