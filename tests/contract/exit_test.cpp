// The end of a process: released where destructors run, left to the ttl where they do not, and never a hang or a crash.
#include <signal.h>

#include "contract/contract.hpp"
#include "support/process.hpp"

namespace tranca::contract {
namespace {

using testing::exit_status;
using testing::process;

class Exit : public testing::redis_fixture {
protected:
    /// How a process ended that held a lock and ended this way.
    [[nodiscard]] std::optional<exit_status> end_by(const std::string& way) {
        const testing::temporary_directory home;
        const testing::process_options quiet{.output = home / "output", .directory = home.path()};
        return process::start({TRANCA_EXIT_PROGRAM, server.unix_url(), way}, quiet).wait(30s);
    }
};

constexpr exit_status in_order{.by_signal = false, .code = 0};
constexpr exit_status aborted{.by_signal = true, .code = SIGABRT};

TEST_F(Exit, ByReturningReleases) {
    EXPECT_EQ(end_by("return"), in_order);
    EXPECT_EQ(raw.exists("lock:thing"), 0);
}

TEST_F(Exit, ByExitReleases) {
    EXPECT_EQ(end_by("exit"), in_order);
    EXPECT_EQ(raw.exists("lock:thing"), 0);
}

TEST_F(Exit, WithoutDestructorsLeavesTheLockToItsTtl) {
    EXPECT_EQ(end_by("quick_exit"), in_order);
    EXPECT_GT(raw.pttl("lock:thing"), 0);
    EXPECT_LE(raw.pttl("lock:thing"), 60'000);
}

TEST_F(Exit, ByAnUncaughtExceptionLeavesTheLockToItsTtl) {
    for (const std::string way : {"throw", "abort"}) {
        raw.flush();
        EXPECT_EQ(end_by(way), aborted);
        EXPECT_GT(raw.pttl("lock:thing"), 0);
    }
}

}  // namespace
}  // namespace tranca::contract
