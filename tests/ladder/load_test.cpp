// Eight processes, some seconds, kill -9 at random: how many are inside at once.
#include <iostream>
#include <random>
#include <vector>

#include "ladder/schedule.hpp"
#include "support/belief_board.hpp"
#include "support/crew.hpp"

namespace tranca::ladder_test {
namespace {

using testing::belief_board;
using testing::load_length;

constexpr std::size_t workers = 8;

/// What a worker does until it is killed or told to stop: acquire, be inside for a moment, release.
template <class Make>
void work(std::size_t worker, std::uint64_t salt, const std::string& url, belief_board& board,
          const std::atomic<bool>& stop, Make make) {
    std::mt19937_64 random{salt};
    const client redis{url};
    const auto primitive = make(redis);
    while (!stop) {
        std::optional<guard> held;
        try {
            held = primitive.try_acquire_for(50ms);
        } catch (const error&) {
            continue;  // a lease that was over when the answer came, on a machine that is busy
        }
        if (!held) continue;
        board.enter(worker, held->safe_until());
        const auto leaves = clock::now() + std::chrono::microseconds{random() % 2'000};
        while (clock::now() < leaves && *held) {
        }
        board.leave(worker);
    }
}

class Load : public Ladder {
protected:
    template <class Make>
    void run(
        std::size_t limit, Make make, const std::function<void()>& after_a_kill = [] {}) {
        testing::shared_memory<belief_board> board{limit};
        testing::shared_memory<std::atomic<bool>> stop{false};
        testing::crew crew{
            workers, "ladder load",
            [&](std::size_t worker, std::uint64_t salt) { work(worker, salt, server.unix_url(), *board, *stop, make); },
            [&](std::size_t worker) {
                board->leave(worker);
                after_a_kill();
            }};
        for (const testing::deadline end{load_length(4s)}; !end.expired();) {
            crew.pause();
            crew.kill_one();
        }
        stop->store(true);
        crew.finish();
        report(*board, crew.kills());
    }

    void report(const belief_board& board, int kills) {
        entries = board.entries();
        overruns = board.overruns();
        std::cout << "    entered " << entries << " times, " << kills << " workers killed, " << overruns
                  << " times more inside than allowed\n";
        RecordProperty("entries", std::to_string(entries));
        RecordProperty("overruns", std::to_string(overruns));
        EXPECT_GT(entries, 10u);
    }

    std::uint64_t entries{0};
    std::uint64_t overruns{0};
};

constexpr milliseconds load_ttl = 300ms;

// A killed holder keeps it for ever; somebody has to free it by hand, which is counted.
TEST_F(Load, OfANaiveLockNeedsSomebodyToFreeIt) {
    int freed = 0;
    std::string last;
    run(
        1,
        [](const client& of) {
            return ladder::naive_lock{of, "thing"};
        },
        [&] {
            const auto owner = raw.get("lock:thing").value_or("");
            const bool stuck =
                !owner.empty() && !eventually(100ms, [&] { return raw.get("lock:thing").value_or("") != owner; });
            if (!stuck) return;
            raw.del("lock:thing");
            ++freed;
        });
    std::cout << "    freed by hand " << freed << " times\n";
    RecordProperty("freed", freed);
}

TEST_F(Load, OfATimeoutLockLetsOneInAtATime) {
    run(1, [](const client& of) { return ladder::timeout_lock{of, "thing", {.lease = {.ttl = load_ttl}}}; });
    EXPECT_EQ(overruns, 0u);
}

TEST_F(Load, OfAPxLockLetsOneInAtATime) {
    run(1, [](const client& of) { return ladder::px_lock{of, "thing", {.lease = {.ttl = load_ttl}}}; });
    EXPECT_EQ(overruns, 0u);
}

TEST_F(Load, OfAClockSemaphoreIsCounted) {
    run(3, [](const client& of) { return ladder::clock_semaphore{of, "thing", 3, {.lease = {.ttl = load_ttl}}}; });
}

TEST_F(Load, OfAFairSemaphoreIsCounted) {
    run(3, [](const client& of) { return ladder::fair_semaphore{of, "thing", 3, {.lease = {.ttl = load_ttl}}}; });
}

TEST_F(Load, OfAGuardedSemaphoreLetsExactlyTheLimitIn) {
    run(3, [](const client& of) {
        return ladder::guarded_semaphore{of, "thing", 3, {.lease = {.ttl = load_ttl}, .helper_ttl = 2s}};
    });
    EXPECT_EQ(overruns, 0u);
}

}  // namespace
}  // namespace tranca::ladder_test
