// The kit's children, what they share, and its clocks.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <random>
#include <thread>

#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_server.hpp"
#include "support/overlap_counter.hpp"
#include "support/process_barrier.hpp"
#include "support/process_usage.hpp"
#include "support/redis_server.hpp"
#include "support/seed.hpp"
#include "support/shared_memory.hpp"
#include "support/signal_storm.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(ChildProcess, RunsAFunctionAndTellsItsStatus) {
    EXPECT_EQ(child_process{[] {}}.wait(5s), exited(0));
    EXPECT_EQ(child_process{[] { return 7; }}.wait(5s), exited(7));
    EXPECT_EQ(child_process{[] { ::raise(SIGTERM); }}.wait(5s), killed(SIGTERM));
}

TEST(ChildProcess, ReportsExceptionsAndFailedExpectations) {
    child_process throwing{[] { throw std::runtime_error{"the reason"}; }, child_output::captured};
    EXPECT_EQ(throwing.wait(5s), exited(child_process::threw));
    EXPECT_THAT(throwing.text(), HasSubstr("the reason"));
    child_process failing{[] { EXPECT_EQ(1, 2) << "on purpose"; }, child_output::captured};
    EXPECT_EQ(failing.wait(5s), exited(child_process::failed));
    EXPECT_THAT(failing.text(), HasSubstr("on purpose"));
}

TEST(ChildProcess, CapturesOutput) {
    child_process speaking{[] {
                               std::cout << "out ";
                               std::cerr << "err";
                           },
                           child_output::captured};
    EXPECT_EQ(speaking.wait(5s), exited(0));
    EXPECT_THAT(speaking.text(), HasSubstr("out"));
    EXPECT_THAT(speaking.text(), HasSubstr("err"));
}

TEST(ChildProcess, IsKilledFrozenAndResumed) {
    shared_memory<std::atomic<std::uint64_t>> beats{0u};
    child_process child{[&] {
        while (true) {
            beats->fetch_add(1);
        }
    }};
    ASSERT_TRUE(eventually(5s, [&] { return beats->load() > 0; }));
    child.freeze();
    const auto seen = beats->load();
    EXPECT_TRUE(throughout(20ms, [&] { return beats->load() == seen; }));
    EXPECT_TRUE(child.running());
    child.resume();
    EXPECT_TRUE(eventually(5s, [&] { return beats->load() > seen; }));
    EXPECT_EQ(child.wait(1ms), std::nullopt);
    EXPECT_EQ(child.kill_hard(), killed(SIGKILL));
    EXPECT_FALSE(child.running());
    EXPECT_EQ(child.wait(0ms), killed(SIGKILL));
}

TEST(ChildProcess, IsEndedWithItsObjectEvenWhenFrozen) {
    pid_t pid = 0;
    {
        child_process child{[] { ::pause(); }};
        child.freeze();
        pid = child.pid();
    }
    EXPECT_FALSE(is_alive(pid));
}

TEST(ChildProcess, DiesWithItsParent) {
    shared_memory<std::atomic<pid_t>> grandchild{0};
    child_process parent{[&] {
        child_process child{[] { ::pause(); }};
        grandchild->store(child.pid());
        ::pause();
    }};
    ASSERT_TRUE(eventually(5s, [&] { return grandchild->load() != 0; }));
    parent.kill_hard();
    EXPECT_TRUE(eventually(5s, [&] { return !is_alive(grandchild->load()); }));
}

TEST(ChildProcess, MayBeStartedByAThreadThatEnds) {
    std::unique_ptr<child_process> child;
    std::thread{[&] { child = std::make_unique<child_process>([] { ::pause(); }); }}.join();
    EXPECT_TRUE(throughout(20ms, [&] { return child->running(); }));
}

TEST(ChildProcess, MayStartThreads) {
    child_process child{[] {
        int sum = 0;
        std::thread{[&] { sum = 42; }}.join();
        return sum;
    }};
    EXPECT_EQ(child.wait(10s), exited(42));
}

TEST(OverlapCounter, CountsHoldersExactly) {
    overlap_counter overlap{1};
    EXPECT_EQ(overlap.enter(0), 1u);
    EXPECT_EQ(overlap.enter(63), 2u);
    EXPECT_EQ(overlap.overruns(), 1u);
    overlap.leave(0);
    overlap.leave(63);
    { const overlap_scope inside{overlap, 1}; }
    EXPECT_EQ(overlap.inside(), 0u);
    EXPECT_EQ(overlap.maximum(), 2u);
    EXPECT_EQ(overlap.entries(), 3u);
    EXPECT_EQ(overlap.entered_twice(), 0u);
    EXPECT_THROW(overlap.enter(64), std::out_of_range);
}

TEST(OverlapCounter, ForgetsAWorkerThatWasKilledInside) {
    shared_memory<overlap_counter> overlap{1u};
    child_process victim{[&] {
        overlap->enter(3);
        ::pause();
    }};
    ASSERT_TRUE(eventually(5s, [&] { return overlap->inside() == 1; }));
    victim.kill_hard();
    EXPECT_TRUE(overlap->clear(3));
    EXPECT_FALSE(overlap->clear(3));
    EXPECT_EQ(overlap->enter(4), 1u);
    EXPECT_EQ(overlap->overruns(), 0u);
}

TEST(ProcessBarrier, LetsAllGoTogetherAgainAndAgain) {
    shared_memory<process_barrier> barrier{3u};
    const auto meet_twice = [&] { return barrier->wait(10s) && barrier->wait(10s) ? 0 : 1; };
    child_process one{meet_twice};
    child_process two{meet_twice};
    EXPECT_TRUE(barrier->wait(10s));
    EXPECT_TRUE(barrier->wait(10s));
    EXPECT_EQ(one.wait(5s), exited(0));
    EXPECT_EQ(two.wait(5s), exited(0));
    EXPECT_FALSE(barrier->wait(1ms));
}

TEST(FakeClock, MovesOnlyWhenTold) {
    fake_clock clock{wall_time{100s}};
    const wall_clock_function seen = clock;
    const wall_clock_function slow = clock.skewed(-5s);
    clock.advance(11s);
    EXPECT_EQ(seen(), wall_time{111s});
    EXPECT_EQ(slow(), wall_time{106s});
    clock.set(wall_time{1s});
    EXPECT_EQ(clock.now(), wall_time{1s});
    EXPECT_LT(std::chrono::abs(skewed_wall_clock(1h)() - std::chrono::system_clock::now() - 1h), 10s);
}

TEST(Deadline, PollsAndMeasures) {
    int asked = 0;
    EXPECT_TRUE(eventually(0ms, [&] { return ++asked == 1; }));
    const stopwatch watch;
    EXPECT_FALSE(eventually(10ms, [] { return false; }));
    EXPECT_GE(watch.elapsed(), 10ms);
    EXPECT_GE(watch.elapsed_ms(), 10ms);
    const deadline past{-1s};
    EXPECT_TRUE(past.expired());
    EXPECT_EQ(past.left(), 0s);
}

TEST(SignalStorm, InterruptsAndLeavesNoTrace) {
    struct sigaction before {};
    struct sigaction after {};
    ::sigaction(SIGALRM, nullptr, &before);
    {
        const signal_storm storm;
        EXPECT_TRUE(eventually(5s, [&] { return storm.count() > 20; }));
    }
    ::sigaction(SIGALRM, nullptr, &after);
    EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(SignalStorm, DoesNotDisturbTheKit) {
    const signal_storm storm;
    redis_server server;
    const tcp_gate gate{server.tcp()};
    auto client = raw_client{gate.where()};
    for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(client.command({"INCR", "n"}), i + 1);
    }
    child_process child{[] { return 3; }};
    EXPECT_EQ(child.wait(5s), exited(3));
    EXPECT_GT(storm.count(), 0u);
}

TEST(ProcessUsage, Counts) {
    const auto descriptors = open_descriptors();
    const auto running = threads();
    {
        const unique_fd one{::dup(0)};
        EXPECT_EQ(open_descriptors(), descriptors + 1);
        const fake_server thread{never_answering()};
        EXPECT_EQ(threads(), running + 1);
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_TRUE(eventually(2s, [&] { return threads() == running; }));  // the kernel takes a moment
    EXPECT_GT(resident_bytes(), 100'000u);
}

TEST(Seed, IsOneForTheRunAndManyForItsPurposes) {
    EXPECT_EQ(seed(), seed());
    EXPECT_EQ(seed("a"), seed("a"));
    EXPECT_NE(seed("a"), seed("b"));
}

}  // namespace
}  // namespace tranca::testing
