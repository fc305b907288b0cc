// Eight processes, some seconds, kill -9 and SIGSTOP at random: who believes to hold, and in which order of fences. And a
// thousand that wait for one lock.
#include <array>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "mutex/mutex_fixture.hpp"
#include "support/belief_board.hpp"
#include "support/crew.hpp"
#include "support/monitor_reader.hpp"
#include "support/shared_memory.hpp"

namespace tranca::mutex_test {
namespace {

using testing::belief_board;
using testing::load_length;
using testing::shared_memory;

constexpr std::size_t workers = 8;

/// The fences in the order in which they were written down by their holders.
class fence_log {
public:
    /// Counts only if it is still held afterwards: then nobody else was there while it was written.
    void add(const guard& held) {
        const auto place = length_.fetch_add(1) % size;
        fences_[place] = 0;
        const auto fence = *held.fence();
        if (held) fences_[place] = fence;
    }

    [[nodiscard]] std::size_t length() const { return std::min<std::size_t>(length_, size); }
    [[nodiscard]] bool grows() const {
        std::uint64_t last = 0;
        for (std::size_t i = 0; i < length(); ++i) {
            if (fences_[i] == 0) continue;
            if (fences_[i] <= last) return false;
            last = fences_[i];
        }
        return true;
    }

private:
    static constexpr std::size_t size = 1 << 20;

    std::atomic<std::size_t> length_{0};
    std::array<std::atomic<std::uint64_t>, size> fences_{};
};

class MutexLoad : public mutex_fixture {
protected:
    struct arena {
        belief_board board{1};
        fence_log fences{};
        std::atomic<bool> stop{false};
    };

    /// Until it is killed or told to stop: acquire, be inside for a moment, release.
    void work(std::size_t worker, std::uint64_t salt, release_mode mode) {
        std::mt19937_64 random{salt};
        const client own{server.unix_url()};
        auto options = lasting(300ms);
        options.release = mode;
        const mutex lock{own, "thing", options};
        while (!shared->stop) {
            std::optional<guard> held;
            const auto failure = thrown_by([&] { held = lock.try_acquire_for(milliseconds{random() % 100}); });
            if (failure || !held) continue;  // frozen for so long that its answer was of no use
            shared->board.enter(worker, held->safe_until());
            shared->fences.add(*held);
            const auto leaves = clock::now() + std::chrono::microseconds{random() % 2'000};
            while (clock::now() < leaves && *held) {
            }
            shared->board.leave(worker);
        }
    }

    shared_memory<arena> shared;
};

TEST_F(MutexLoad, LetsOneInAtATimeInTheOrderOfFences) {
    const auto mode = [](std::size_t worker) {
        return worker % 2 == 0 ? release_mode::immediate : release_mode::deferred;
    };
    testing::crew crew{workers, "mutex load",
                       [&](std::size_t worker, std::uint64_t salt) { work(worker, salt, mode(worker)); },
                       [&](std::size_t worker) { shared->board.leave(worker); }};
    for (const testing::deadline end{load_length(8s)}; !end.expired();)
        crew.disturb(500ms);  // more than its ttl, now and then
    shared->stop = true;
    crew.finish();
    std::cout << "    entered " << shared->board.entries() << " times, " << crew.kills() << " killed, "
              << crew.freezes() << " frozen\n";
    EXPECT_EQ(shared->board.overruns(), 0u);
    EXPECT_GT(shared->board.entries(), 100u);
    EXPECT_TRUE(shared->fences.grows());
    EXPECT_TRUE(eventually(1s, [&] { return !exists(); }));
}

// A thousand processes' worth of waiters: three commands a second each, and all of them leave when told to.
TEST_F(MutexLoad, OfAThousandWaitersIsBounded) {
    constexpr std::size_t crowd = 1'000;
    occupy(300s);
    std::stop_source stop;
    std::atomic<std::size_t> busy{0};
    {
        std::vector<std::jthread> waiters;
        for (std::size_t i = 0; i < crowd; ++i)
            waiters.emplace_back([&] {
                const client own{server.unix_url() + "?command_timeout=10s&connect_timeout=10s"};
                if (!mutex{own, "thing", lasting(60s)}.try_acquire_for(300s, stop.get_token())) ++busy;
            });
        ASSERT_TRUE(eventually(20s, [&] { return std::stoul(raw.info("blocked_clients")) > crowd * 9 / 10; }));
        const auto blocks = raw.calls("blpop");
        const auto before = std::stoll(raw.info("total_commands_processed"));
        ASSERT_TRUE(throughout(2s, [&] { return busy == 0; }));
        const auto asked = raw.calls("blpop") - blocks;
        const auto all = std::stoll(raw.info("total_commands_processed")) - before;
        std::cout << "    " << asked << " slices, " << all << " commands in 2 s\n";
        EXPECT_LE(asked, static_cast<std::int64_t>(3 * crowd));
        EXPECT_LE(all, static_cast<std::int64_t>(2 * 13 * crowd));  // with those that the scripts call
        stop.request_stop();
    }
    EXPECT_EQ(busy, crowd);
    EXPECT_EQ(raw.get(lock_key), "foreign");
    EXPECT_EQ(raw.info("blocked_clients"), "0");
}

}  // namespace
}  // namespace tranca::mutex_test
