// Sixth rung: its entrance.
#include <thread>

#include "ladder/schedule.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::ladder_test {
namespace {

using ladder::guarded_semaphore;
using refusal = guarded_semaphore::refusal;
using testing::named;
using testing::stopwatch;

class Entrance : public Ladder {
protected:
    /// Another client stands in the entrance for a minute.
    void block() { raw.set("lock:thing", "another", 60s); }

    [[nodiscard]] guarded_semaphore make(milliseconds helper_wait, std::int64_t limit = 1) const {
        return {redis, "thing", limit, {.helper_wait = helper_wait}};
    }
};

TEST_F(Entrance, ThatIsBusyIsToldFromASemaphoreThatIsFull) {
    const auto semaphore = make(10ms);
    auto first = semaphore.try_enter();
    ASSERT_TRUE(std::holds_alternative<guard>(first));
    EXPECT_EQ(std::get<refusal>(semaphore.try_enter()), refusal::full);
    block();
    EXPECT_EQ(std::get<refusal>(semaphore.try_enter()), refusal::entrance_busy);
    std::get<guard>(first).release();
    EXPECT_EQ(std::get<refusal>(semaphore.try_enter()), refusal::entrance_busy);
    raw.del("lock:thing");
    EXPECT_TRUE(std::holds_alternative<guard>(semaphore.try_enter()));
}

TEST_F(Entrance, IsGivenBackWhateverComesOfIt) {
    const auto semaphore = make(10ms);
    const auto held = semaphore.acquire();
    EXPECT_EQ(raw.exists("lock:thing"), 0);
    EXPECT_FALSE(semaphore.try_acquire());
    EXPECT_EQ(raw.exists("lock:thing"), 0);
    raw.must({"DEL", "thing:owner"});
    raw.must({"SET", "thing:owner", "no set"});
    EXPECT_THROW(static_cast<void>(semaphore.try_acquire()), error);
    EXPECT_EQ(raw.exists("lock:thing"), 0);
}

TEST_F(Entrance, AlwaysHasATtl) {
    testing::monitor_reader monitor{server};
    { const auto held = make(10ms).acquire(); }
    EXPECT_TRUE(monitor.wait_for(
        [](const testing::monitored_command& one) {
            return one.name() == "SET" && one.arguments.size() == 6 && one.arguments[1] == "lock:thing" &&
                   one.arguments[3] == "NX" && one.arguments[4] == "PX" && one.arguments[5] == "1000";
        },
        patience));
}

TEST_F(Entrance, IsWaitedForNoLongerThanToldTo) {
    block();
    const stopwatch since_start;
    EXPECT_FALSE(make(50ms).try_acquire());
    EXPECT_GE(since_start.elapsed(), 50ms);
    EXPECT_LT(since_start.elapsed(), 2s);
}

TEST_F(Entrance, IsWaitedForNoLongerThanTheCallerWaits) {
    block();
    const auto patient = make(30s);
    const stopwatch since_start;
    EXPECT_FALSE(patient.try_acquire_for(30ms));
    EXPECT_FALSE(patient.try_acquire_for(0ms));
    EXPECT_FALSE(patient.try_acquire_until(clock::now() + 30ms));
    EXPECT_LT(since_start.elapsed(), 5s);
}

TEST_F(Entrance, IsWaitedForNoLongerThanUntilAStopRequest) {
    block();
    raw.reset_stats();
    std::stop_source stop;
    const std::jthread other{[&] {
        auto own = server.raw();
        EXPECT_TRUE(eventually(patience, [&] { return own.calls("set") >= 1; }));
        stop.request_stop();
    }};
    const stopwatch since_start;
    EXPECT_FALSE(make(30s).try_acquire_for(30s, stop.get_token()));
    EXPECT_LT(since_start.elapsed(), 5s);
}

// Giving the entrance back takes time off the slot's lease. A guard with no time left is never handed out.
TEST_F(Entrance, ThatIsGivenBackTooSlowlyCostsTheSlot) {
    tcp_gate gate{server.tcp()};
    const client slow{gate.url()};
    const guarded_semaphore semaphore{slow, "thing", 1, {.lease = {.ttl = 100ms}}};
    EXPECT_TRUE((guarded_semaphore{slow, "thing", 1, {.lease = {.ttl = 10s}}}.try_acquire()));  // connected
    gate.delay_replies(200ms, testing::text_like("EVALSHA .* lock:thing"));
    std::optional<guard> held;
    try {
        held = semaphore.try_acquire();
        ADD_FAILURE() << "handed out: " << believers(held) << " of 1 believes";
    } catch (const error& failure) {
        EXPECT_EQ(failure.reason(), errc::timeout);
        EXPECT_FALSE(failure.in_doubt());
    }
    EXPECT_EQ(raw.keys(), std::vector<std::string>{"thing:counter"});
}

}  // namespace
}  // namespace tranca::ladder_test
