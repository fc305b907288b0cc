// Redis URLs and endpoints that are refused: with the reason, and never with the password.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/endpoint.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct bad_url {
    std::string url;
    std::string_view reason;
};

void expect_refused(const std::vector<bad_url>& urls) {
    for (const auto& bad : urls) {
        const auto failure = thrown_by([&] { return endpoint::parse(bad.url); });
        EXPECT_TRUE(failure.code() == errc::invalid_url || failure.code() == errc::invalid_argument) << bad.url;
        EXPECT_FALSE(failure.in_doubt());
        EXPECT_THAT(failure.text(), HasSubstr(bad.reason)) << bad.url;
    }
}

TEST(EndpointRefusal, NamesTheSchemes) {
    for (const auto* url : {"", "redis", "localhost:6379", "http://h", "redis:/h", "redis:h", "REDIS://h", "://h",
                            "//h", " redis://h", "redis+socket:///a", "unix:/a"}) {
        const auto failure = thrown_by([&] { return endpoint::parse(url); });
        EXPECT_EQ(failure.code(), errc::invalid_url) << url;
        EXPECT_THAT(failure.text(), HasSubstr("redis://, rediss:// or unix://")) << url;
    }
}

TEST(EndpointRefusal, IsAboutTheHost) {
    expect_refused({{"redis://", "host"},
                    {"redis:///5", "host"},
                    {"redis://:6379", "host"},
                    {"redis://u:p@", "host"},
                    {"redis://u:p@/1", "host"},
                    {"redis://[]", "host"},
                    {"redis://a b", "host"},
                    {"redis://a%00b", "host"},
                    {"redis://a%0Ab", "host"},
                    {"redis://h%zz", "host"},
                    {"redis://[::1", "["},
                    {"redis://[::1]6379", "]"},
                    {"redis://[localhost]", "IPv6"},
                    {"redis://[1.2.3.4]:5", "IPv6"},
                    {"redis://::1", "IPv6"},
                    {"redis://fe80::1:6379", "IPv6"}});
}

TEST(EndpointRefusal, IsAboutThePort) {
    for (const auto* port : {"0", "65536", "-1", "+1", "", "1x", "x", "0x1", "1.5", " 1", "99999999999999999999"})
        expect_refused({{"redis://h:"s + port, "port"}, {"redis://[::1]:"s + port + "/1", "port"}});
}

TEST(EndpointRefusal, IsAboutTheDatabase) {
    for (const auto* number : {"-1", "+1", "x", "1x", "1/2", "1/", "0x1", "2147483648", "1.5", "%31"})
        expect_refused({{"redis://h/"s + number, "database"}});
    for (const auto* number : {"-1", "x", "", "2147483648"})
        expect_refused({{"redis://h?db="s + number, "database"}, {"unix:///a?db="s + number, "database"}});
}

// Case H08.
TEST(EndpointRefusal, IsAboutATimeLimit) {
    for (const std::string option : {"connect_timeout", "command_timeout"}) {
        for (const auto* value : {"0ms",
                                  "0s",
                                  "-1ms",
                                  "1",
                                  "1us",
                                  "1m",
                                  "1h",
                                  "ms",
                                  "",
                                  "1.5s",
                                  "1 s",
                                  "1S",
                                  "1ms ",
                                  "1e3ms",
                                  "NaNms",
                                  "3153600001s",
                                  "3153600000001ms",
                                  "9223372036854775807ms",
                                  "9223372036854775807s",
                                  "99999999999999999999s"})
            expect_refused({{"redis://h?" + option + "=" + value, option}});
    }
}

TEST(EndpointRefusal, IsAboutAnOption) {
    expect_refused({{"redis://h?retries=3", "retries"},
                    {"redis://h?DB=3", "DB"},
                    {"redis://h?db", "value"},
                    {"redis://h?=3", "option"},
                    {"redis://h?db=1&x", "value"},
                    {"redis://h?client_name=a%20b", "client_name"},
                    {"redis://h?client_name=%C3%A9", "client_name"},
                    {"redis://h?client_name=a%0Ab", "client_name"},
                    {"redis://h?client_name=%zz", "%"},
                    {"rediss://h?verify=maybe", "verify"},
                    {"rediss://h?verify=", "verify"},
                    {"rediss://h?certificate=/c.pem", "private_key"},
                    {"rediss://h?private_key=/k.pem", "certificate"},
                    {"redis://h?ca_file=/ca.pem", "ca_file needs rediss://"},
                    {"redis://h?verify=no", "verify needs rediss://"},
                    {"unix:///a?server_name=h", "server_name needs rediss://"}});
}

TEST(EndpointRefusal, IsAboutAUnixSocket) {
    expect_refused({{"unix://", "path"},
                    {"unix://relative/path.sock", "path"},
                    {"unix://h:1/a", "path"},
                    {"unix:///a%00b", "NUL"},
                    {"unix:///" + std::string(107, 'x'), "too long"}});
    EXPECT_NO_THROW(static_cast<void>(endpoint::parse("unix:///" + std::string(106, 'x'))));
}

TEST(EndpointRefusal, IsAboutAUserWithoutAPassword) {
    expect_refused(
        {{"redis://worker@h", "password"}, {"redis://worker:@h", "password"}, {"redis://p@ss@h", "password"}});
}

// Case H09: passwords that were not encoded, or encoded badly. The secret is "Geheim" in pieces.
TEST(EndpointRefusal, NeverShowsThePassword) {
    for (const auto* account :
         {":Ge/heim", ":Ge?heim", ":Ge#heim", ":Ge%heim", ":Geheim%", ":Geheim%4", ":Ge%zzheim", "Geheim",
          "Geheim:", "u:Ge/heim", "u:Ge?db=1&heim", ":Ge/heim?x", ":Geheim/1", ":Ge[heim/"}) {
        const auto url = "redis://"s + account + "@h:6379/0";
        const auto failure = thrown_by([&] { return endpoint::parse(url); });
        EXPECT_THAT(failure.what(), Not(HasSubstr("Ge"))) << url;
        EXPECT_THAT(failure.what(), Not(HasSubstr("heim"))) << url;
    }
}

TEST(EndpointRefusal, NeverShowsThePasswordWhenSomethingElseIsWrong) {
    for (const auto* rest :
         {"", ":0", ":x", "h:x", "h/x", "[::1", "h?db=x", "h?x=Geheim", "h?Geheim", "h?command_timeout=Geheim",
          "h?verify=Geheim", "h#Geheim", "h?client_name=a%20Geheim", "h/Geheim", "h:Geheim", "h%zz"})
        for (const auto* scheme : {"redis", "rediss", "http", "unix"}) {
            const auto url = scheme + "://user:Geheim@"s + rest;
            if (url == "unix://user:Geheim@h") continue;
            const auto failure = thrown_by([&] { return endpoint::parse(url); });
            EXPECT_THAT(failure.what(), Not(HasSubstr("Geheim"))) << url;
        }
}

TEST(EndpointRefusal, SaysHowToWriteWhatWasNotEncoded) {
    const auto failure = thrown_by([] { return endpoint::parse("redis://:a/b@h"); });
    EXPECT_THAT(failure.text(), HasSubstr("%2F"));
    EXPECT_THAT(failure.text(), HasSubstr("%40"));
}

struct bad_member {
    std::function<void(endpoint&)> spoil;
    std::string_view reason;
};

TEST(EndpointRefusal, OfMembersNamesTheMember) {
    const std::vector<bad_member> all{
        {[](endpoint& e) { e.connect_timeout = 0ms; }, "connect_timeout (0 ms)"},
        {[](endpoint& e) { e.command_timeout = -5ms; }, "command_timeout (-5 ms)"},
        {[](endpoint& e) { e.command_timeout = milliseconds::max(); }, "command_timeout (9223372036854775807 ms)"},
        {[](endpoint& e) { e.database = -1; }, "database (-1)"},
        {[](endpoint& e) { e.user = "worker"; }, "password"},
        {[](endpoint& e) { e.client_name = "a b"; }, "client_name"},
        {[](endpoint& e) { e.client_name = "a\n"; }, "client_name"},
        {[](endpoint& e) { e.host = ""; }, "host"},
        {[](endpoint& e) { e.host = "h\0x"s; }, "host"},
        {[](endpoint& e) { e.port = 0; }, "port"},
        {[](endpoint& e) { e.tls.private_key = "/k"; }, "private_key"},
        {[](endpoint& e) { e.kind = endpoint::transport::unix_socket; }, "path"}};
    for (const auto& [spoil, reason] : all) {
        endpoint where;
        spoil(where);
        const auto failure = thrown_by([&] { where.validate(); });
        EXPECT_EQ(failure.code(), errc::invalid_argument) << reason;
        EXPECT_THAT(failure.text(), HasSubstr(reason));
        EXPECT_EQ(thrown_by([&] { return client{where}; }).code(), errc::invalid_argument) << reason;
    }
}

}  // namespace
}  // namespace tranca::testing
