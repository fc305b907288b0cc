// A library built with a hiredis that has no TLS says so.
#include <gmock/gmock.h>

#include <string>

#include <tranca/client.hpp>

#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"
#include "unit/thrown.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

using TlsAbsent = redis_fixture;

TEST_F(TlsAbsent, IsSaidClearlyAndAtOnce) {
    client redis{"rediss://worker:secret@" + server.tcp().text() + "/5?verify=no"};
    const stopwatch since_start;
    const auto failure = thrown_by([&] { return redis.command("PING"); });
    EXPECT_EQ(failure.code(), errc::tls_failed);
    EXPECT_FALSE(failure.temporary());
    EXPECT_FALSE(failure.in_doubt());
    EXPECT_THAT(failure.text(), HasSubstr("no TLS"));
    EXPECT_THAT(failure.text(), HasSubstr("hiredis"));
    EXPECT_THAT(failure.text(), HasSubstr("rediss://worker@" + server.tcp().text() + "/5"));
    EXPECT_THAT(failure.what(), Not(HasSubstr("secret")));
    EXPECT_LT(since_start.elapsed(), 1s);
}

TEST_F(TlsAbsent, NothingIsSentInTheClear) {
    client redis{"rediss://worker:secret@" + server.tcp().text()};
    const auto commands = raw.info("total_commands_processed");
    EXPECT_EQ(thrown_by([&] { return redis.command("PING"); }).code(), errc::tls_failed);
    EXPECT_EQ(std::stoll(raw.info("total_commands_processed")), std::stoll(commands) + 1);
}

}  // namespace
}  // namespace tranca::testing
