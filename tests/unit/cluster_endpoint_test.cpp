// URLs that name the nodes of a Cluster: what is read from them, what is refused, what is shown.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/cluster_endpoint.hpp>

#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using node = cluster_endpoint::address;

TEST(ClusterEndpoint, ReadsItsNodes) {
    const auto read = cluster_endpoint::parse("redis-cluster://n1,n2:7000,[::1]:7001,[2001:db8::7]/");
    EXPECT_THAT(read.seeds,
                ElementsAre(node{"n1", 6379}, node{"n2", 7000}, node{"::1", 7001}, node{"2001:db8::7", 6379}));
    EXPECT_EQ(read.server.kind, endpoint::transport::tcp);
    EXPECT_TRUE(read.server.host.empty());
    EXPECT_EQ(cluster_endpoint::parse("redis-cluster://n1").seeds.size(), 1u);
    EXPECT_EQ(cluster_endpoint::parse("redis-cluster://n1/0").server.database, 0);
}

TEST(ClusterEndpoint, HasOneAccountForAllNodes) {
    const auto read = cluster_endpoint::parse(
        "redis-cluster://worker:p%40%2Css@n1,n2:7000/?command_timeout=70ms&connect_timeout=2s&client_name=me");
    const auto where = read.reach(read.seeds[1]);
    EXPECT_EQ(where.host, "n2");
    EXPECT_EQ(where.port, 7000);
    EXPECT_EQ(where.user, "worker");
    EXPECT_EQ(where.password, "p@,ss");
    EXPECT_EQ(where.command_timeout, 70ms);
    EXPECT_EQ(where.connect_timeout, 2s);
    EXPECT_EQ(where.client_name, "me");
    EXPECT_EQ(where.database, 0);
}

TEST(ClusterEndpoint, SpeaksTlsWithAllOrWithNone) {
    const auto read = cluster_endpoint::parse("rediss-cluster://n1,n2?ca_file=/ca.pem");
    EXPECT_EQ(read.reach(read.seeds[1]).kind, endpoint::transport::tls);
    EXPECT_EQ(read.reach(read.seeds[1]).tls.ca_file, "/ca.pem");
}

TEST(ClusterEndpoint, IsRefusedWithTheReason) {
    struct refusal {
        std::string url;
        std::string_view reason;
    };
    const std::vector<refusal> refusals{{"redis://n1", "redis-cluster://"},
                                        {"redis-cluster://", "host"},
                                        {"redis-cluster:///", "host"},
                                        {"redis-cluster://n1,,n2", "host"},
                                        {"redis-cluster://n1,", "host"},
                                        {"redis-cluster://n1/1", "database"},
                                        {"redis-cluster://n1/?db=1", "database"},
                                        {"redis-cluster://n1/x", "database"},
                                        {"redis-cluster://n1:0", "port"},
                                        {"redis-cluster://n1:99999", "port"},
                                        {"redis-cluster://::1", "[ ]"},
                                        {"redis-cluster://u@n1", "password"},
                                        {"redis-cluster://n1?command_timeout=5", "unit"},
                                        {"redis-cluster://n1?sentinel_user=u", "sentinel_user"},
                                        {"redis-cluster://n1?ca_file=x", "rediss://"},
                                        {"redis-cluster://n1/#1", "#"},
                                        {"redis-cluster://u:p/w@n1", "@"}};
    for (const auto& each : refusals) {
        const auto failure = thrown_by([&] { return cluster_endpoint::parse(each.url); });
        EXPECT_TRUE(failure.code() == errc::invalid_url || failure.code() == errc::invalid_argument) << each.url;
        EXPECT_THAT(failure.text(), HasSubstr(each.reason)) << each.url;
    }
}

TEST(ClusterEndpoint, OfATypedStructIsValidated) {
    const auto refused = [](const cluster_endpoint& where) {
        return thrown_by([&] { return where.validate(), 0; }).code();
    };
    EXPECT_EQ(refused({}), errc::invalid_argument);
    EXPECT_EQ(refused({.seeds = {{"a b"}}}), errc::invalid_argument);
    EXPECT_EQ(refused({.seeds = {{"n1", 0}}}), errc::invalid_argument);
    EXPECT_EQ(refused({.seeds = {{"n1"}}, .server = {.database = 3}}), errc::invalid_argument);
    EXPECT_EQ(refused({.seeds = {{"n1"}}, .server = {.kind = endpoint::transport::unix_socket, .path = "/s"}}),
              errc::invalid_argument);
    EXPECT_NO_THROW(cluster_endpoint({.seeds = {{"n1"}, {"n2", 7000}}}).validate());
}

TEST(ClusterEndpoint, ShowsNoPassword) {
    const auto read = cluster_endpoint::parse("redis-cluster://me:hunter2@n1,[::1]:7/");
    EXPECT_EQ(read.printable(), "redis-cluster://me@n1:6379,[::1]:7");
    for (const auto* url : {"redis-cluster://me:hunter2@n1:x", "redis-cluster://me:hunter2/m@n1",
                            "redis-cluster://:hunter2@", "redis-cluster://n1/hunter2", "redis-cluster://n1?x=hunter2"})
        EXPECT_THAT(thrown_by([&] { return cluster_endpoint::parse(url); }).text(), Not(HasSubstr("hunter"))) << url;
}

}  // namespace
}  // namespace tranca::testing
