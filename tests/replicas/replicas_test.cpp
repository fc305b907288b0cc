// A grant that replicas must have acknowledged: how many did, what happens when too few do, and that nothing is left then.
#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <thread>

#include <tranca/tranca.hpp>

#include "mutex/sleeping_thread.hpp"
#include "support/deadline.hpp"
#include "support/replica_pair.hpp"
#include "thrown_by.hpp"

namespace tranca::replicas_test {
namespace {

using testing::eventually;
using ::testing::HasSubstr;
using testing::replica_pair;
using testing::stopwatch;
using testing::thrown_by;
using namespace std::chrono_literals;

constexpr std::string_view lock_key = "lock:thing";

template <class Options = mutex_options>
[[nodiscard]] Options known_to(std::int64_t count, milliseconds within = 10s) {
    Options made;
    made.lease.ttl = 30s;
    made.replicas = {.count = count, .within = within};
    return made;
}

void expect_too_few(const std::function<void()>& body) {
    const auto failure = thrown_by(body);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::too_few_replicas) << failure->what();
    EXPECT_FALSE(failure->in_doubt());
    EXPECT_FALSE(failure->temporary());
    EXPECT_THAT(failure->what(), HasSubstr("0 of 1"));
}

class Replicas : public ::testing::Test {
protected:
    /// Until as many clients of the library sleep on the master.
    [[nodiscard]] bool wait_for_a_sleeper() {
        auto raw = pair.master().raw();
        return eventually(10s, [&] { return raw.info("blocked_clients") == "1"; });
    }

    replica_pair pair;
    client redis{pair.url()};
};

TEST_F(Replicas, AreToldByTheGuard) {
    auto held = mutex{redis, "thing", known_to(1)}.acquire();
    EXPECT_EQ(held.replicas(), 1);
    EXPECT_EQ(held.level(), grant_level::replicas);
    EXPECT_EQ(pair.replica().raw().exists(lock_key), 1);  // without having waited for it here
    EXPECT_EQ(held.release(), release_result::released);
    auto places = semaphore{redis, "places", 3, known_to<permit_options>(1)}.weighted(2).acquire();
    EXPECT_EQ(places.replicas(), 1);
    EXPECT_EQ(pair.replica().raw().exists("semaphore:places"), 1);
}

TEST_F(Replicas, AreToldOfReadersAWriterAndSeveralNames) {
    const shared_mutex prices{redis, "prices", known_to<shared_options>(1)};
    {
        const auto reading = prices.shared().acquire();
        EXPECT_EQ(reading.replicas(), 1);
        EXPECT_EQ(pair.replica().raw().exists("lock:prices"), 1);
    }
    EXPECT_EQ(prices.acquire().level(), grant_level::replicas);
    const auto both = multi_mutex{redis, {"a", "b"}, known_to<multi_options>(1)}.acquire();
    EXPECT_EQ(both.replicas(), 1);
    EXPECT_EQ(pair.replica().raw().exists("lock:b"), 1);
}

TEST_F(Replicas, AreNotAskedForByDefault) {
    auto held = mutex{redis, "thing"}.acquire();
    EXPECT_EQ(held.replicas(), 0);
    EXPECT_EQ(held.level(), grant_level::one_server);
    EXPECT_EQ(guard{}.replicas(), 0);
    auto permit = semaphore{redis, "places", 3}.acquire();
    EXPECT_EQ(permit.replicas(), 0);
    EXPECT_EQ(pair.master().raw().calls("wait"), 0);
}

TEST_F(Replicas, TooFewUndoALock) {
    pair.stop_replication();
    ASSERT_TRUE(eventually(10s, [&] { return pair.master().raw().info("connected_slaves") == "0"; }));
    for (const auto fenced : {fencing::on, fencing::off}) {
        auto options = known_to(1, 50ms);
        options.fencing = fenced;
        const mutex lock{redis, "thing", options};
        expect_too_few([&] { static_cast<void>(lock.try_acquire()); });
        EXPECT_EQ(pair.master().raw().exists(lock_key), 0);
        expect_too_few([&] { static_cast<void>(lock.try_acquire_for(10s)); });
        EXPECT_EQ(pair.master().raw().exists(lock_key), 0);
        expect_too_few([&] { static_cast<void>(lock.acquire()); });
        EXPECT_EQ(pair.master().raw().exists(lock_key), 0);
    }
    EXPECT_TRUE(mutex(redis, "thing", known_to(0)).try_acquire());
}

TEST_F(Replicas, TooFewUndoPermits) {
    pair.stop_replication();
    ASSERT_TRUE(eventually(10s, [&] { return pair.master().raw().info("connected_slaves") == "0"; }));
    for (const auto order : {fairness::off, fairness::on}) {
        auto options = known_to<permit_options>(1, 50ms);
        options.fairness = order;
        const semaphore places{redis, order == fairness::on ? "line" : "places", 2, options};
        expect_too_few([&] { static_cast<void>(places.try_acquire()); });
        expect_too_few([&] { static_cast<void>(places.weighted(2).acquire()); });
        EXPECT_EQ(places.available(), 2);
    }
}

TEST_F(Replicas, TooFewUndoReadersAWriterAndSeveralNames) {
    pair.stop_replication();
    ASSERT_TRUE(eventually(10s, [&] { return pair.master().raw().info("connected_slaves") == "0"; }));
    const shared_mutex prices{redis, "prices", known_to<shared_options>(1, 50ms)};
    expect_too_few([&] { static_cast<void>(prices.try_acquire()); });
    expect_too_few([&] { static_cast<void>(prices.shared().try_acquire_for(10s)); });
    EXPECT_EQ(pair.master().raw().exists("lock:prices"), 0);
    const multi_mutex both{redis, {"a", "b"}, known_to<multi_options>(1, 50ms)};
    expect_too_few([&] { static_cast<void>(both.try_acquire()); });
    expect_too_few([&] { static_cast<void>(both.try_acquire_for(10s)); });
    EXPECT_EQ(pair.master().raw().exists("lock:a") + pair.master().raw().exists("lock:b"), 0);
}

TEST_F(Replicas, ThatAreFrozenCostNoMoreThanTheirTime) {
    pair.replica().freeze();
    const mutex lock{redis, "thing", known_to(1, 200ms)};
    const stopwatch since_start;
    expect_too_few([&] { static_cast<void>(lock.try_acquire()); });
    EXPECT_GE(since_start.elapsed(), 200ms);
    EXPECT_LT(since_start.elapsed(), 5s);
    pair.replica().resume();
    EXPECT_TRUE(eventually(10s, [&] {
        std::optional<guard> held;
        return !thrown_by([&] { held = lock.try_acquire(); }) && held;
    }));
}

// WAIT may take longer than any other command is allowed to.
TEST_F(Replicas, AreWaitedForBeyondTheCommandTimeout) {
    const client hasty{pair.url() + "?command_timeout=200ms"};
    const mutex lock{hasty, "thing", known_to(1, 20s)};
    { auto warm = lock.acquire(); }
    pair.wait_in_sync();
    pair.replica().freeze();
    std::jthread thaws{[&] {
        auto raw = pair.master().raw();
        EXPECT_TRUE(eventually(10s, [&] { return raw.info("blocked_clients") == "1"; }));
        std::this_thread::sleep_for(500ms);  // longer than the time limit of a command
        pair.replica().resume();
    }};
    auto held = lock.try_acquire();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->replicas(), 1);
}

TEST_F(Replicas, AreAskedForAfterAWaitToo) {
    const client other{pair.url()};
    auto first = mutex{other, "thing", known_to(0)}.acquire();
    std::optional<guard> got;
    std::jthread waiter{[&] { got = mutex{redis, "thing", known_to(1)}.try_acquire_for(30s); }};
    ASSERT_TRUE(wait_for_a_sleeper());
    first.release();
    waiter.join();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->replicas(), 1);
}

TEST_F(Replicas, TooFewAfterAWaitUndoItAndWakeTheNext) {
    const client other{pair.url()};
    auto first = mutex{other, "thing", known_to(0)}.acquire();
    std::optional<error> failure;
    std::jthread waiter{[&] {
        failure = thrown_by([&] { static_cast<void>(mutex{redis, "thing", known_to(1, 50ms)}.try_acquire_for(30s)); });
    }};
    ASSERT_TRUE(wait_for_a_sleeper());
    pair.stop_replication();
    first.release();
    waiter.join();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->reason(), errc::too_few_replicas);
    EXPECT_TRUE(mutex(other, "thing", known_to(0)).try_acquire_for(5s));
}

// The answer of WAIT is lost: the grant is undone or asked for again, and in no case left behind.
TEST_F(Replicas, LeaveNothingWhenTheirAnswerIsLost) {
    const mutex lock{redis, "thing", known_to(1)};
    { auto warm = lock.acquire(); }
    pair.gate().swallow_reply(testing::named("WAIT"));
    {
        auto held = lock.try_acquire();
        ASSERT_TRUE(held);  // undone, and asked for once more
        EXPECT_EQ(held->replicas(), 1);
    }
    pair.gate().swallow_reply(testing::named("WAIT"));
    {
        auto held = lock.try_acquire_for(10s);
        ASSERT_TRUE(held);
        EXPECT_EQ(held->replicas(), 1);
    }
    EXPECT_EQ(pair.master().raw().exists(lock_key), 0);
}

// A thread is handed what another one of its process was granted: it has asked for the same, and its guard says so.
TEST_F(Replicas, AreThoseOfTheLockThatIsHandedOn) {
    const mutex lock{redis, "thing", known_to(1)};
    auto first = lock.acquire();
    std::optional<guard> got;
    {
        const mutex_test::sleeping_thread waiter{[&] { got = lock.try_acquire_for(30s); }};
        ASSERT_TRUE(waiter.sleeps());
        EXPECT_EQ(first.release(), release_result::released);
    }
    ASSERT_TRUE(got);
    EXPECT_EQ(got->replicas(), 1);
    EXPECT_EQ(pair.master().raw().calls("wait"), 1);  // it was handed on
    // Who has asked for less does not lend what it gets to who has asked for more.
    got->release();
    auto careless = mutex{redis, "thing", known_to(0)}.acquire();
    {
        const mutex_test::sleeping_thread waiter{[&] { got = lock.try_acquire_for(30s); }};
        ASSERT_TRUE(waiter.sleeps());
        EXPECT_EQ(careless.release(), release_result::released);
    }
    ASSERT_TRUE(got && *got);
    EXPECT_EQ(got->replicas(), 1);
}

TEST_F(Replicas, KeepALockOverTheDeathOfTheMaster) {
    auto held = mutex{redis, "thing", known_to(1)}.acquire();
    pair.fail_over();
    EXPECT_TRUE(eventually(10s, [&] {
        bool extended = false;
        return !thrown_by([&] { extended = held.extend(); }) && extended;
    }));
    EXPECT_FALSE(mutex(redis, "thing").try_acquire());
}

TEST_F(Replicas, AreRefusedInNonsense) {
    for (const auto& bad : {known_to(-1), known_to(1'001), known_to(1, 0ms), known_to(1, -1ms), known_to(1, 30s)}) {
        const auto failure = thrown_by([&] { static_cast<void>(mutex{redis, "thing", bad}); });
        ASSERT_TRUE(failure);
        EXPECT_EQ(failure->reason(), errc::invalid_argument);
    }
    for (const auto& bad : {known_to<shared_options>(-1), known_to<shared_options>(1, 31s)})
        EXPECT_EQ(thrown_by([&] {
                      static_cast<void>(shared_mutex{redis, "prices", bad});
                  })->reason(),
                  errc::invalid_argument);
    for (const auto& bad : {known_to<multi_options>(-1), known_to<multi_options>(1, 31s)})
        EXPECT_EQ(thrown_by([&] {
                      static_cast<void>(multi_mutex{redis, {"a", "b"}, bad});
                  })->reason(),
                  errc::invalid_argument);
    for (const auto& bad : {known_to<permit_options>(-1), known_to<permit_options>(1, 31s)})
        EXPECT_EQ(thrown_by([&] {
                      static_cast<void>(semaphore{redis, "places", 2, bad});
                  })->reason(),
                  errc::invalid_argument);
}

}  // namespace
}  // namespace tranca::replicas_test
