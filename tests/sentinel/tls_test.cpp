// TLS to the sentinels, and to whichever server they name.
#include "sentinel/sentinel_fixture.hpp"
#include "support/tls_certificates.hpp"

namespace tranca::sentinel_test {
namespace {

class SentinelTls : public ::testing::Test {
protected:
    const testing::tls_certificates certificates;
    sentinel_set set{{.tls = &certificates}};
    const std::string trusting = "?command_timeout=500ms&ca_file=" + certificates.ca().native();
};

TEST_F(SentinelTls, IsSpokenWithSentinelsAndMastersBeforeAndAfterAFailover) {
    const client redis{set.tls_url() + trusting};
    const mutex lock{redis, "thing"};
    auto held = lock.acquire();
    EXPECT_EQ(redis.server().kind, endpoint::transport::tls);
    const auto old = set.master_port();
    EXPECT_EQ(redis.server().port, old);
    set.wait_in_sync();
    set.server_at(old).kill_hard();
    const auto first = held.safe_until();
    EXPECT_TRUE(eventually(20s, [&] { return held.safe_until() > first; }));
    EXPECT_TRUE(held);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_NE(redis.server().port, old);
    EXPECT_EQ(redis.server().kind, endpoint::transport::tls);
}

TEST_F(SentinelTls, RefusesSentinelsItHasNoReasonToTrust) {
    client stranger{set.tls_url() + "?ca_file=" + certificates.unrelated_ca().native()};
    const auto failure = thrown_by([&] { stranger.command("PING"); });
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->what(), ::testing::HasSubstr("certificate"));
}

}  // namespace
}  // namespace tranca::sentinel_test
