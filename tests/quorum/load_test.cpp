// Eight processes, five masters with memory on disk, kill -9 and restarts at random: one holder, and fences in order.
#include <iostream>
#include <random>
#include <thread>

#include "quorum/quorum_fixture.hpp"
#include "support/belief_board.hpp"
#include "support/crew.hpp"
#include "support/shared_memory.hpp"

namespace tranca::quorum_test {
namespace {

using testing::belief_board;
using testing::load_length;

constexpr std::size_t workers = 8;
constexpr std::size_t masters = 5;

struct scoreboard {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> largest{0};     // fence seen inside
    std::atomic<std::uint64_t> inversions{0};  // a holder met a fence that was not smaller
    std::atomic<std::uint64_t> one_trip{0};
    std::atomic<std::uint64_t> grants{0};
    std::atomic<std::uint64_t> errors{0};
};

class QuorumLoad : public ::testing::Test {
protected:
    QuorumLoad() {
        for (std::size_t i = 0; i < masters; ++i)
            nodes.push_back(std::make_unique<redis_server>(
                testing::redis_server_options{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}));
    }

    [[nodiscard]] voters clients() const {
        std::vector<std::string> all;
        for (const auto& each : nodes)
            all.push_back(each->unix_url());
        return voters{all};
    }

    /// What a worker does until it is killed or told to stop: acquire, be inside for a moment, release.
    void work(std::size_t worker, std::uint64_t salt) {
        std::mt19937_64 chance{salt};
        const auto mine = clients();
        const auto lock = mine.lock(by_hand(400ms, 100ms));
        while (!score->stop) {
            std::optional<guard> held;
            try {
                held = lock.try_acquire_for(100ms);
            } catch (const error&) {
                score->errors.fetch_add(1);
                continue;
            }
            if (!held) continue;
            be_inside(worker, *held, std::chrono::microseconds{chance() % 1'000});
        }
    }

    void be_inside(std::size_t worker, const guard& held, std::chrono::microseconds time) {
        if (board->enter(worker, held.safe_until()) > 0) {
            // What a fenced resource does: the largest it has seen must be smaller.
            const auto mine = *held.fence();
            auto before = score->largest.load();
            while (before < mine && !score->largest.compare_exchange_weak(before, mine)) {
            }
            if (before >= mine && held) score->inversions.fetch_add(1);
            score->grants.fetch_add(1);
            if (votes_for(held).round_trips == 1) score->one_trip.fetch_add(1);
            std::this_thread::sleep_for(time);
        }
        board->leave(worker);
    }

    std::vector<std::unique_ptr<redis_server>> nodes;
    testing::shared_memory<belief_board> board{std::size_t{1}};
    testing::shared_memory<scoreboard> score;
};

TEST_F(QuorumLoad, WithKillsAndRestartsHasOneHolderAndFencesInOrder) {
    testing::crew crew{workers, "quorum load", [&](std::size_t worker, std::uint64_t salt) { work(worker, salt); }};
    auto& random = crew.random();
    int restarts = 0;
    for (const testing::deadline end{load_length(5s)}; !end.expired();) {
        crew.pause();
        auto& node = *nodes[random() % masters];
        switch (random() % 6) {
        case 0:
            node.restart();
            ++restarts;
            break;
        case 1:
            node.freeze();
            std::this_thread::sleep_for(milliseconds{random() % 150});
            node.resume();
            break;
        default: crew.kill_one();
        }
    }
    score->stop = true;
    crew.finish();
    std::cout << "    " << score->grants << " grants, " << score->one_trip << " in one round trip, " << score->errors
              << " errors; " << crew.kills() << " workers killed, " << restarts << " restarts\n";
    EXPECT_EQ(board->overruns(), 0u);
    EXPECT_EQ(score->inversions, 0u);
    EXPECT_GT(score->grants, 50u);
    const auto late = clients();
    EXPECT_TRUE(late.lock().try_acquire_for(patience));  // whatever the dead left is over
}

}  // namespace
}  // namespace tranca::quorum_test
