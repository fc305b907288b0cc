// Eight processes, five seconds, kill -9, SIGSTOP and SIGCONT at random: how many are inside at once.
#include <iostream>
#include <memory>
#include <random>
#include <thread>

#include "semaphore/semaphore_fixture.hpp"
#include "support/belief_board.hpp"
#include "support/crew.hpp"
#include "support/shared_memory.hpp"

namespace tranca::semaphore_test {
namespace {

using testing::belief_board;
using testing::load_length;

constexpr std::size_t workers = 8;
constexpr std::int64_t limit = 3;

class Load : public semaphore_fixture {
protected:
    /// What a worker does until it is killed or told to stop: acquire, be inside for a moment, release.
    void work(std::size_t worker, std::uint64_t salt) {
        std::mt19937_64 chance{salt};
        const client own_client{server.unix_url()};
        const semaphore calls{own_client, "thing", limit, {.lease = {.ttl = 300ms}}};
        while (!*stop) {
            std::optional<guard> held;
            try {
                held = calls.weighted(worker == 0 ? 2 : 1).try_acquire_for(50ms);
            } catch (const error&) {
                continue;  // a lease that was over when the answer came, of a process that was stopped meanwhile
            }
            if (!held) continue;
            board->enter(worker, held->safe_until());
            if (worker == 0) board->enter(workers, held->safe_until());  // its second permit
            std::this_thread::sleep_for(std::chrono::microseconds{chance() % 2'000});
            board->leave(worker);
            if (worker == 0) board->leave(workers);
        }
    }

    testing::shared_memory<belief_board> board{static_cast<std::size_t>(limit)};
    testing::shared_memory<std::atomic<bool>> stop{false};
};

TEST_F(Load, WithKillsAndStopsNeverLetsMoreInThanTheLimit) {
    testing::crew crew{workers, "semaphore load", [&](std::size_t worker, std::uint64_t salt) { work(worker, salt); }};
    for (const testing::deadline end{load_length(5s)}; !end.expired();)
        crew.disturb(450ms);
    stop->store(true);
    crew.finish();
    std::cout << "    entered " << board->entries() << " times, " << crew.kills() << " workers killed, "
              << crew.freezes() << " stopped\n";
    EXPECT_GT(crew.kills(), 0);
    EXPECT_GT(crew.freezes(), 0);
    EXPECT_EQ(board->overruns(), 0u);
    EXPECT_GT(board->entries(), 100u);
    for (const auto& key : raw.keys())
        EXPECT_NE(raw.pttl(key), -1) << key;  // one of the last may be gone
    const semaphore calls{redis, "thing", limit, {.lease = {.ttl = 300ms}}};
    EXPECT_TRUE(eventually(2s, [&] { return calls.available() == limit; }));
    EXPECT_TRUE(calls.weighted(limit).try_acquire_for(3s));  // after what a dead big request kept
}

}  // namespace
}  // namespace tranca::semaphore_test
