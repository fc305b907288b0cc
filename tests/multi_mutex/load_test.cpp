// Eight processes, some seconds, kill -9 and SIGSTOP at random: several names in any order, and mutexes of one of them. Who
// believes to hold which, in which order of fences, and does it ever stand still?
#include <array>
#include <iostream>
#include <random>

#include "multi_mutex/multi_fixture.hpp"
#include "support/belief_board.hpp"
#include "support/crew.hpp"
#include "support/faults.hpp"
#include "support/shared_memory.hpp"

namespace tranca::multi_test {
namespace {

using testing::belief_board;
using testing::load_length;

constexpr std::size_t workers = 8;
constexpr milliseconds ttl = 300ms;
const std::array<std::string, 4> all_names{"a", "b", "c", "d"};

struct arena {
    std::array<belief_board, all_names.size()> boards{belief_board{1}, belief_board{1}, belief_board{1},
                                                      belief_board{1}};
    std::array<std::atomic<std::uint64_t>, all_names.size()> last_fence{};
    std::atomic<std::uint64_t> inversions{0};
    std::atomic<bool> stop{false};

    void enter(std::size_t worker, const std::vector<std::size_t>& names, const guard& held) {
        for (const auto name : names) {
            boards[name].enter(worker, held.safe_until());
            const auto before = last_fence[name].exchange(*held.fence());
            if (held && before >= *held.fence()) ++inversions;  // still held: nobody newer can have been there
        }
    }
    void leave(std::size_t worker) {
        for (auto& board : boards)
            board.leave(worker);
    }
    [[nodiscard]] std::uint64_t entries() const {
        std::uint64_t sum = 0;
        for (const auto& board : boards)
            sum += board.entries();
        return sum;
    }
};

/// From one to three of the names, in any order.
[[nodiscard]] std::vector<std::size_t> some_names(std::mt19937_64& random) {
    std::vector<std::size_t> names{0, 1, 2, 3};
    std::ranges::shuffle(names, random);
    names.resize(1 + random() % 3);
    return names;
}

class MultiLoad : public ::testing::Test {
protected:
    /// Until it is killed or told to stop: acquire, be inside for a moment, release.
    void work(std::size_t worker, const std::string& url, std::uint64_t salt) {
        std::mt19937_64 numbers{salt};
        const client own{url};
        const milliseconds wait{20 + numbers() % 200};
        while (!shared->stop) {
            const auto chosen = some_names(numbers);
            std::vector<std::string> names;
            for (const auto name : chosen)
                names.push_back(all_names[name]);
            std::optional<guard> held;
            const auto failure = thrown_by([&] {
                held = names.size() == 1 ? mutex{own, names[0], {.lease = {.ttl = ttl}}}.try_acquire_for(wait)
                                         : multi_mutex{own, names, {.lease = {.ttl = ttl}}}.try_acquire_for(wait);
            });
            if (failure || !held) continue;  // frozen for so long that its answer was of no use
            shared->enter(worker, chosen, *held);
            const auto leaves = clock::now() + std::chrono::microseconds{numbers() % 2'000};
            while (clock::now() < leaves && *held) {
            }
            shared->leave(worker);
        }
    }

    void run_on(testing::redis_server& server) {
        const auto url = server.unix_url();
        testing::crew crew{workers, "multi load",
                           [&](std::size_t worker, std::uint64_t salt) { work(worker, url, salt); },
                           [&](std::size_t worker) { shared->leave(worker); }};
        const testing::deadline end{load_length(6s)};
        milliseconds longest_pause{0};
        auto seen = shared->entries();
        stopwatch since_progress;
        while (!end.expired()) {
            crew.disturb(450ms);
            longest_pause = std::max(longest_pause, since_progress.elapsed_ms());
            if (shared->entries() != seen) {
                seen = shared->entries();
                since_progress = stopwatch{};
            }
        }
        shared->stop = true;
        crew.finish();
        std::cout << "    entered " << shared->entries() << " times, " << crew.kills() << " killed, " << crew.freezes()
                  << " frozen, longest pause at most " << longest_pause.count() << " ms\n";
        for (const auto& board : shared->boards)
            EXPECT_EQ(board.overruns(), 0u);
        EXPECT_EQ(shared->inversions, 0u);
        EXPECT_GT(shared->entries(), 100u);
        // A lease, the longest that one look at the progress takes, and what a busy machine adds.
        EXPECT_LT(longest_pause, ttl + 520ms + 700ms);
        const client last{url};
        EXPECT_TRUE((multi_mutex{last, all_names}.try_acquire_for(2 * ttl)));
        auto raw = server.raw();
        for (const auto& key : raw.keys())
            EXPECT_NE(raw.pttl(key), -1) << key;  // one of the last may be gone
    }

    testing::shared_memory<arena> shared;
};

TEST_F(MultiLoad, OnOneServerNeverOverlapsNorStandsStill) { run_on(testing::fresh()); }

TEST_F(MultiLoad, OverSlotsNeverOverlapsNorStandsStill) {
    const auto node = testing::single_node_cluster();
    run_on(*node);
}

}  // namespace
}  // namespace tranca::multi_test
