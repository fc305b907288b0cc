// px_lock with an empty prefix and redis-py's own Lock exclude each other on one key, both ways.
#include <cstdlib>

#include "ladder/schedule.hpp"
#include "support/process.hpp"

namespace tranca::ladder_test {
namespace {

using ladder::px_lock;
using testing::process;

// Arguments: port, lock, "try" (acquire once and give back) or "hold" (until something is pushed to the list "let go").
constexpr const char* script = R"(
import sys
import redis
port, name, what = sys.argv[1:]
client = redis.Redis(host="127.0.0.1", port=int(port))
lock = client.lock(name, timeout=60)
if not lock.acquire(blocking=False):
    sys.exit(3)
if what == "hold":
    client.blpop("let go", timeout=60)
lock.release()
)";

class RedisPy : public Ladder {
protected:
    void SetUp() override {
        if (std::getenv("TRANCA_TEST_PYTHON") == nullptr)
            GTEST_SKIP() << "no python3 with redis-py: python3-redis is missing";
    }

    [[nodiscard]] process python(const std::string& what) {
        return process::start(
            {std::getenv("TRANCA_TEST_PYTHON"), "-c", script, std::to_string(server.port()), "thing", what});
    }

    /// How one attempt of redis-py went.
    [[nodiscard]] std::optional<testing::exit_status> python_tries() { return python("try").wait(30s); }

    px_lock ours{redis, "thing", {.prefix = "", .lease = {.ttl = 60s}}};
};

TEST_F(RedisPy, IsKeptOutByPxLock) {
    EXPECT_EQ(python_tries(), testing::exited(0));
    auto held = ours.acquire();
    EXPECT_EQ(python_tries(), testing::exited(3));
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(python_tries(), testing::exited(0));
}

TEST_F(RedisPy, KeepsPxLockOut) {
    auto holder = python("hold");
    ASSERT_TRUE(eventually(30s, [&] { return raw.exists("thing") == 1; }));
    EXPECT_FALSE(ours.try_acquire());
    EXPECT_FALSE(ours.try_acquire_for(10ms));
    raw.must({"RPUSH", "let go", "x"});
    EXPECT_EQ(holder.wait(30s), testing::exited(0));  // its own release found its own token
    EXPECT_TRUE(ours.try_acquire());
}

TEST_F(RedisPy, CannotReleaseWhatPxLockTookOver) {
    auto holder = python("hold");
    ASSERT_TRUE(eventually(30s, [&] { return raw.exists("thing") == 1; }));
    pass_an_age(raw);
    auto held = ours.acquire();
    raw.must({"RPUSH", "let go", "x"});
    EXPECT_EQ(holder.wait(30s), testing::exited(1));  // LockNotOwnedError
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
}

}  // namespace
}  // namespace tranca::ladder_test
