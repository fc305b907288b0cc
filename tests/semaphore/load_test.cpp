// Eight processes, five seconds, kill -9 at random: how many are inside at once.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <thread>

#include "ladder/belief_board.hpp"
#include "semaphore/semaphore_fixture.hpp"
#include "support/child_process.hpp"
#include "support/seed.hpp"
#include "support/shared_memory.hpp"

namespace tranca::semaphore_test {
namespace {

using ladder_test::belief_board;
using testing::child_process;

constexpr std::size_t workers = 8;
constexpr std::int64_t limit = 3;

[[nodiscard]] std::chrono::seconds length() {
    const char* const told = std::getenv("TRANCA_LOAD_SECONDS");
    return std::chrono::seconds{told == nullptr ? 5 : std::atoi(told)};
}

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
                continue;  // a lease that was over when the answer came, on a machine that is busy
            }
            if (!held) continue;
            board->enter(worker, held->safe_until());
            if (worker == 0) board->enter(workers, held->safe_until());  // its second permit
            std::this_thread::sleep_for(std::chrono::microseconds{chance() % 2'000});
            board->leave(worker);
            if (worker == 0) board->leave(workers);
        }
    }

    void start(std::size_t worker) {
        children[worker] = std::make_unique<child_process>([this, worker, salt = random()] { work(worker, salt); });
    }

    testing::shared_memory<belief_board> board{static_cast<std::size_t>(limit)};
    testing::shared_memory<std::atomic<bool>> stop{false};
    std::mt19937_64 random{testing::seed("semaphore load")};
    std::vector<std::unique_ptr<child_process>> children{workers};
};

TEST_F(Load, WithKillsNeverLetsMoreInThanTheLimit) {
    for (std::size_t worker = 0; worker < workers; ++worker)
        start(worker);
    const testing::deadline end{length()};
    int kills = 0;
    while (!end.expired()) {
        std::this_thread::sleep_for(milliseconds{20 + random() % 60});  // the pace of the killing
        const auto victim = random() % workers;
        children[victim]->kill_hard();
        ++kills;
        start(victim);
    }
    stop->store(true);
    for (const auto& child : children)
        EXPECT_EQ(child->wait(30s), testing::exited(0));
    std::cout << "    entered " << board->entries() << " times, " << kills << " workers killed\n";
    EXPECT_EQ(board->overruns(), 0u);
    EXPECT_GT(board->entries(), 100u);
    for (const auto& key : raw.keys())
        EXPECT_GT(raw.pttl(key), 0) << key;
    const semaphore calls{redis, "thing", limit, {.lease = {.ttl = 300ms}}};
    EXPECT_TRUE(eventually(2s, [&] { return calls.available() == limit; }));
    EXPECT_TRUE(calls.weighted(limit).try_acquire_for(3s));  // after what a dead big request kept
}

}  // namespace
}  // namespace tranca::semaphore_test
