// The process's wall clock jumps by five minutes, while it holds and while it waits: nothing is lost, no wait is cut short.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <thread>

#include <tranca/tranca.hpp>

#include "contract/any_primitive.hpp"
#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"

namespace {

std::atomic<std::int64_t> seconds_ahead{0};

}  // namespace

// In the place of the C library's own, for this program and the libraries it loads.
extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
    const auto result = ::syscall(SYS_clock_gettime, which, now);
    if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE) now->tv_sec += seconds_ahead.load();
    return static_cast<int>(result);
}

namespace tranca::wall_clock_test {
namespace {

using contract::any_primitive;
using testing::eventually;
using testing::stopwatch;
using testing::throughout;
using namespace std::chrono_literals;

struct model {
    std::string title;
    std::function<any_primitive(const client&, const std::string& name)> make;

    friend std::ostream& operator<<(std::ostream& out, const model& of) { return out << of.title; }
};

constexpr lease_options lease{.ttl = 600ms};

class WallClock : public testing::redis_fixture, public ::testing::WithParamInterface<model> {
protected:
    ~WallClock() override { seconds_ahead = 0; }

    [[nodiscard]] any_primitive made(const client& through) const { return GetParam().make(through, "thing"); }

    client redis{server.url()};
    client other{server.url()};
};

INSTANTIATE_TEST_SUITE_P(
    Every, WallClock,
    ::testing::Values(model{"mutex",
                            [](const client& redis, const std::string& name) {
                                return any_primitive{mutex{redis, name, {.lease = lease}}};
                            }},
                      model{"mutex_in_line",
                            [](const client& redis, const std::string& name) {
                                return any_primitive{mutex{redis, name, {.lease = lease, .fairness = fairness::on}}};
                            }},
                      model{"semaphore",
                            [](const client& redis, const std::string& name) {
                                return any_primitive{semaphore{redis, name, 1, {.lease = lease}}};
                            }},
                      model{"shared_mutex",
                            [](const client& redis, const std::string& name) {
                                return any_primitive{shared_mutex{redis, name, {.lease = lease}}};
                            }},
                      model{"multi_mutex",
                            [](const client& redis, const std::string& name) {
                                return any_primitive{multi_mutex{redis, {name, name + "2"}, {.lease = lease}}};
                            }}),
    [](const auto& each) { return each.param.title; });

TEST_P(WallClock, ThatIsHereReallyJumps) {
    const auto before = std::chrono::system_clock::now();
    seconds_ahead = 300;
    EXPECT_GT(std::chrono::system_clock::now() - before, 299s);
    seconds_ahead = -300;
    EXPECT_LT(std::chrono::system_clock::now() - before, -299s);
}

// Renewed on time, and told of no loss: over more than two ttls after each jump.
TEST_P(WallClock, DoesNotMoveALease) {
    for (const int jump : {300, -300}) {
        auto held = made(redis).acquire();
        const auto lost = held.lost();
        seconds_ahead += jump;
        EXPECT_TRUE(throughout(1'300ms, [&] { return held && !lost.stop_requested(); })) << jump;
        EXPECT_FALSE(made(other).try_acquire());
        EXPECT_EQ(held.release(), release_result::released);
    }
}

TEST_P(WallClock, DoesNotMoveTheEndOfAWait) {
    for (const int jump : {300, -300}) {
        const auto held = made(redis).acquire();
        const stopwatch since_the_start;
        std::jthread jumper{[&] {
            EXPECT_TRUE(eventually(10s, [&] { return raw.info("blocked_clients") == "1"; }));
            seconds_ahead += jump;
        }};
        EXPECT_FALSE(made(other).try_acquire_for(1s));
        EXPECT_GE(since_the_start.elapsed(), 1s);
        EXPECT_LT(since_the_start.elapsed(), 1'500ms) << jump;
    }
}

}  // namespace
}  // namespace tranca::wall_clock_test
