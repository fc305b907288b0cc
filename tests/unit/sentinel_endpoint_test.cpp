// URLs that name sentinels and a master: what is read from them, what is refused, what is shown.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/sentinel_endpoint.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SentinelEndpoint, ReadsSentinelsNameAndDatabase) {
    const auto read = sentinel_endpoint::parse("redis-sentinel://s1,s2:7000,[::1]:7001,[2001:db8::7]/mymaster/5");
    ASSERT_EQ(read.sentinels.size(), 4u);
    EXPECT_EQ(read.sentinels[0].host, "s1");
    EXPECT_EQ(read.sentinels[0].port, 26379);
    EXPECT_EQ(read.sentinels[1].host, "s2");
    EXPECT_EQ(read.sentinels[1].port, 7000);
    EXPECT_EQ(read.sentinels[2].host, "::1");
    EXPECT_EQ(read.sentinels[2].port, 7001);
    EXPECT_EQ(read.sentinels[3].host, "2001:db8::7");
    EXPECT_EQ(read.sentinels[3].port, 26379);
    EXPECT_EQ(read.master_name, "mymaster");
    EXPECT_EQ(read.server.database, 5);
    EXPECT_EQ(read.server.kind, endpoint::transport::tcp);
    EXPECT_TRUE(read.server.host.empty());
    EXPECT_TRUE(read.password.empty() && read.user.empty());
}

TEST(SentinelEndpoint, TakesTheAccountForTheServerAndOptionsForTheSentinels) {
    const auto read = sentinel_endpoint::parse(
        "redis-sentinel://worker:p%40%2Css@s1,s2/m?sentinel_user=watch&command_timeout=70ms&sentinel_password=q%26q"
        "&sentinel_timeout=90ms&db=3&check_every=0");
    EXPECT_EQ(read.server.user, "worker");
    EXPECT_EQ(read.server.password, "p@,ss");
    EXPECT_EQ(read.server.command_timeout, 70ms);
    EXPECT_EQ(read.server.database, 3);
    EXPECT_EQ(read.user, "watch");
    EXPECT_EQ(read.password, "q&q");
    EXPECT_EQ(read.sentinel_timeout, 90ms);
    EXPECT_EQ(read.check_every, 0ms);
    EXPECT_EQ(sentinel_endpoint::parse("redis-sentinel://s1/m?check_every=2s").check_every, 2s);
    EXPECT_EQ(sentinel_endpoint::parse("redis-sentinel://s1/m?check_every=0ms").check_every, 0ms);

    const auto sentinel = read.reach(read.sentinels[1]);
    EXPECT_EQ(sentinel.host, "s2");
    EXPECT_EQ(sentinel.user, "watch");
    EXPECT_EQ(sentinel.password, "q&q");
    EXPECT_EQ(sentinel.database, 0);
    EXPECT_EQ(sentinel.connect_timeout, 90ms);
    const auto server = read.server_at("10.0.0.1", 6380);
    EXPECT_EQ(server.host, "10.0.0.1");
    EXPECT_EQ(server.port, 6380);
    EXPECT_EQ(server.password, "p@,ss");
}

TEST(SentinelEndpoint, SpeaksTlsWithBothOrWithNone) {
    const auto read = sentinel_endpoint::parse("rediss-sentinel://s1/m?ca_file=/ca.pem");
    EXPECT_EQ(read.server.kind, endpoint::transport::tls);
    EXPECT_EQ(read.reach(read.sentinels[0]).kind, endpoint::transport::tls);
    EXPECT_EQ(read.reach(read.sentinels[0]).tls.ca_file, "/ca.pem");
}

TEST(SentinelEndpoint, DecodesTheNameOnce) {
    EXPECT_EQ(sentinel_endpoint::parse("redis-sentinel://s1/a%2Fb%2541").master_name, "a/b%41");
}

TEST(SentinelEndpoint, IsRefusedWithTheReason) {
    struct refusal {
        std::string url;
        std::string_view reason;
    };
    const std::vector<refusal> refusals{
        {"redis://s1/m", "redis-sentinel://"},
        {"redis-sentinel://", "host"},
        {"redis-sentinel:///m", "host"},
        {"redis-sentinel://s1,,s2/m", "host"},
        {"redis-sentinel://s1,/m", "host"},
        {"redis-sentinel://s1", "name of a master"},
        {"redis-sentinel://s1/", "name of a master"},
        {"redis-sentinel://s1/m/x", "database"},
        {"redis-sentinel://s1/m/1/2", "database"},
        {"redis-sentinel://s1:0/m", "port"},
        {"redis-sentinel://s1:99999/m", "port"},
        {"redis-sentinel://u@s1/m", "password"},
        {"redis-sentinel://s1/m?sentinel_user=u", "password"},
        {"redis-sentinel://s1/m?sentinel_timeout=5", "sentinel_timeout must be a number with its unit"},
        {"redis-sentinel://s1/m?check_every=soon", "check_every"},
        {"redis-sentinel://s1/m?sentinel_timeout=0ms", "sentinel_timeout"},
        {"redis-sentinel://s1/m?nonsense=1", "nonsense"},
        {"redis-sentinel://s1/m#1", "#"},
        {"redis-sentinel://s1/%zz", "%"},
        {"redis-sentinel://s1/m?sentinel_password=a@b", "@"}};
    for (const auto& each : refusals) {
        const auto failure = thrown_by([&] { return sentinel_endpoint::parse(each.url); });
        EXPECT_TRUE(failure.code() == errc::invalid_url || failure.code() == errc::invalid_argument) << each.url;
        EXPECT_THAT(failure.text(), HasSubstr(each.reason)) << each.url;
    }
}

TEST(SentinelEndpoint, OfATypedStructIsValidatedByTheClient) {
    EXPECT_EQ(thrown_by([] { return client{sentinel_endpoint{.master_name = "m"}}; }).code(), errc::invalid_argument);
    EXPECT_EQ(thrown_by([] { return client{sentinel_endpoint{.sentinels = {{"s1"}}}}; }).code(),
              errc::invalid_argument);
    EXPECT_EQ(thrown_by([] { return client{sentinel_endpoint{.sentinels = {{"a b"}}, .master_name = "m"}}; }).code(),
              errc::invalid_argument);
    EXPECT_NO_THROW(client(sentinel_endpoint{.sentinels = {{"s1"}, {"s2", 7000}}, .master_name = "m"}));
}

TEST(SentinelEndpoint, ShowsNoPassword) {
    const auto read = sentinel_endpoint::parse("redis-sentinel://me:hunter2@s1,[::1]:7/m/2?sentinel_password=hunter3");
    EXPECT_EQ(read.printable(), "redis-sentinel://me@s1:26379,[::1]:7/m/2");
    for (const auto* url :
         {"redis-sentinel://me:hunter2@s1:x/m", "redis-sentinel://me:hunter2/m@s1/m", "redis-sentinel://:hunter2@/m",
          "redis-sentinel://s1/m?sentinel_password=hunter2&x=hunter2"})
        EXPECT_THAT(thrown_by([&] { return client{url}; }).text(), Not(HasSubstr("hunter"))) << url;
}

}  // namespace
}  // namespace tranca::testing
