// Waiting without a wake-up: random pauses, a queue inside the process, and ends in time.
#include <atomic>
#include <thread>

#include "quorum/quorum_fixture.hpp"

namespace tranca::quorum_test {
namespace {

class Waiting : public quorum_fixture {};

TEST_F(Waiting, EndsWithTheHolder) {
    const voters mine{urls(3)};
    const voters others{urls(3)};
    auto held = mine.lock().acquire();
    std::optional<guard> next;
    std::jthread waiter{[&] { next = others.lock().try_acquire_for(patience); }};
    EXPECT_TRUE(throughout(150ms, [&] { return static_cast<bool>(held); }));
    const stopwatch since_release;
    held.release();
    waiter.join();
    EXPECT_TRUE(next);
    EXPECT_LT(since_release.elapsed(), 1s);
}

TEST_F(Waiting, EndsAtItsDeadline) {
    const voters mine{urls(3)};
    const voters others{urls(3)};
    const auto held = mine.lock().acquire();
    const stopwatch since_start;
    EXPECT_FALSE(others.lock().try_acquire_for(200ms));
    EXPECT_GE(since_start.elapsed(), 200ms);
    EXPECT_LT(since_start.elapsed(), 500ms);
}

class StoppedAfter : public Waiting {
protected:
    /// How long a waiter goes on after it was asked to stop.
    static clock::duration stop_of(const quorum_mutex& lock) {
        std::stop_source stop;
        std::optional<guard> found;
        std::atomic<clock::rep> ended{0};
        std::jthread waiter{[&] {
            found = lock.try_acquire_for(patience, stop.get_token());
            ended = clock::now().time_since_epoch().count();
        }};
        std::this_thread::sleep_for(100ms);  // it waits by now, or is stopped before it begins
        const auto asked = clock::now().time_since_epoch().count();
        stop.request_stop();
        waiter.join();
        EXPECT_FALSE(found);
        return clock::duration{ended - asked};
    }
};

TEST_F(StoppedAfter, ABusyLockIsLeftAtOnce) {
    const voters mine{urls(3)};
    const voters others{urls(3)};
    const auto held = held_on_all(mine.lock(), 3);
    clock::duration least = patience;
    for (int i = 0; i < 5; ++i)
        least = std::min(least, stop_of(others.lock()));
    EXPECT_LT(least, 20ms);
    EXPECT_TRUE(throughout(50ms, [&] { return holding(3) == 3; }));
}

TEST_F(StoppedAfter, AFrozenMajorityIsNotWaitedFor) {
    const voters others{urls(3)};
    static_cast<void>(held_on_all(others.lock(), 3).release());
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
    node(0).freeze();
    node(1).freeze();
    EXPECT_TRUE(testing::once_below(200ms, [&] { return stop_of(others.lock(by_hand(30s, 5s))); }));
    node(0).resume();
    node(1).resume();
    EXPECT_TRUE(eventually(patience, [&] { return holding(3) == 0; }));
}

TEST_F(StoppedAfter, AThreadInTheQueueLeavesIt) {
    const voters mine{urls(3)};
    const auto lock = mine.lock();
    const auto held = lock.acquire();
    EXPECT_TRUE(testing::once_below(200ms, [&] { return stop_of(lock); }));
}

// Threads of one process that wait for one another send nothing.
TEST_F(Waiting, InsideAProcessSendsNothing) {
    const voters mine{urls(3)};
    const auto lock = mine.lock();
    auto held = held_on_all(lock, 3);
    const auto before = node(0).must({"INFO", "commandstats"}).text;
    const auto calls = [](const std::string& text) {
        const auto at = text.find("cmdstat_evalsha:calls=");
        return at == std::string::npos ? std::string{} : text.substr(at, text.find(',', at) - at);
    };
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_FALSE(lock.try_acquire_for(100ms));
    EXPECT_EQ(calls(node(0).must({"INFO", "commandstats"}).text), calls(before));
    held.release();
    EXPECT_TRUE(lock.try_acquire());
}

// Eight that begin together get it one after another: no round of split votes goes on for ever.
TEST_F(Waiting, SplitVotesResolve) {
    constexpr int contenders = 8;
    constexpr int rounds = 10;
    std::vector<std::unique_ptr<voters>> all;
    for (int i = 0; i < contenders; ++i)
        all.push_back(std::make_unique<voters>(urls(4)));  // an even number splits more often
    std::atomic<int> inside{0};
    std::atomic<int> most_inside{0};
    std::atomic<int> granted{0};
    std::vector<std::jthread> threads;
    for (const auto& each : all)
        threads.emplace_back([&, mine = each.get()] {
            for (int round = 0; round < rounds; ++round) {
                const auto held = mine->lock(by_hand(10s, 1s)).try_acquire_for(20s);
                if (!held) return;
                most_inside = std::max(most_inside.load(), ++inside);
                ++granted;
                std::this_thread::sleep_for(1ms);
                --inside;
            }
        });
    threads.clear();
    EXPECT_EQ(granted, contenders * rounds);
    EXPECT_EQ(most_inside, 1);
}

TEST_F(Waiting, EndsWithItsClient) {
    auto mine = std::make_unique<voters>(urls(3));
    const voters others{urls(3)};
    const auto held = others.lock().acquire();
    const auto lock = mine->lock();
    std::optional<errc> reason;
    std::jthread waiter{[&] {
        const auto failure = thrown_by([&] { static_cast<void>(lock.acquire()); });
        if (failure) reason = failure->reason();
    }};
    std::this_thread::sleep_for(50ms);  // it waits by now, or begins with clients that are gone
    mine.reset();
    waiter.join();
    EXPECT_EQ(reason, errc::stopped);
}

}  // namespace
}  // namespace tranca::quorum_test
