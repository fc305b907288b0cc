// Eight processes, kill -9, SIGSTOP and SIGCONT at random: never two inside who both believe it, and everybody gets a turn.
#include <iostream>
#include <memory>
#include <random>
#include <thread>

#include "fairness/fair_model.hpp"
#include "support/belief_board.hpp"
#include "support/crew.hpp"
#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"
#include "support/shared_memory.hpp"

namespace tranca::fairness_test {
namespace {

using testing::belief_board;
using testing::load_length;

constexpr std::size_t workers = 8;

class FairLoad : public testing::redis_fixture, public ::testing::WithParamInterface<fair_model> {
protected:
    void work(std::size_t worker, std::uint64_t salt) {
        std::mt19937_64 chance{salt};
        const client own{server.unix_url()};
        const auto lock = GetParam().make(own, 300ms, 200ms);
        while (!*stop) {
            std::optional<guard> held;
            try {
                held = lock.try_acquire_for(300ms);
            } catch (const error&) {
                continue;  // a lease that was over when the answer came, of a process that was stopped meanwhile
            }
            if (!held) continue;
            board->enter(worker, held->safe_until());
            std::this_thread::sleep_for(std::chrono::microseconds{chance() % 1'000});
            board->leave(worker);
            ++turns->at(worker);
        }
    }

    testing::shared_memory<belief_board> board{std::size_t{1}};
    testing::shared_memory<std::array<std::atomic<int>, workers>> turns;
    testing::shared_memory<std::atomic<bool>> stop{false};
};

INSTANTIATE_TEST_SUITE_P(Every, FairLoad, ::testing::ValuesIn(fair_models()), title_of_fair);

TEST_P(FairLoad, WithKillsAndStopsKeepsOneInside) {
    testing::crew crew{workers, "fair load", [&](std::size_t worker, std::uint64_t salt) { work(worker, salt); }};
    for (const testing::deadline end{load_length(4s)}; !end.expired();)
        crew.disturb(400ms);
    stop->store(true);
    crew.finish();
    std::cout << "    entered " << board->entries() << " times\n";
    EXPECT_GT(crew.freezes(), 0);
    EXPECT_EQ(board->overruns(), 0u);
    EXPECT_GT(board->entries(), 50u);
    for (const auto& each : *turns)
        EXPECT_GT(each.load(), 0);
    for (const auto& key : raw.keys())
        EXPECT_NE(raw.pttl(key), -1) << key;  // one of the last may be gone
}

}  // namespace
}  // namespace tranca::fairness_test
