// Case L05: fifty threads that lock, count, read, write and wait on two clients, a fault a second, and nothing is left
// afterwards: no overlap, no descriptor, no thread, no key for ever, no memory.
//
// TRANCA_LOAD_SECONDS=600 is the ten minutes of the case.
#include <array>
#include <atomic>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <tranca/tranca.hpp>

#include "support/belief_board.hpp"
#include "support/crew.hpp"
#include "support/deadline.hpp"
#include "support/faults.hpp"
#include "support/process_usage.hpp"
#include "support/redis_fixture.hpp"
#include "support/seed.hpp"

namespace tranca::soak_test {
namespace {

using testing::belief_board;
using testing::eventually;
using namespace std::chrono_literals;

constexpr std::size_t workers = 50;
constexpr std::int64_t limit = 3;
constexpr lease_options brief{.ttl = 800ms};

/// The primitives of one client. What one of them holds is written down on its board.
struct tools {
    explicit tools(const std::string& url)
        : redis(url + "?command_timeout=2s&connect_timeout=2s"),
          lock(redis, "a", {.lease = brief}),
          other(redis, "b", {.lease = brief}),
          both(redis, {"a", "b"}, {.lease = brief}),
          slots(redis, "calls", limit, {.lease = brief}),
          lane(redis, "lane", {.lease = brief, .fairness = fairness::on}),
          book(redis, "book", {.lease = brief}) {}

    client redis;
    mutex lock, other;
    multi_mutex both;
    semaphore slots;
    mutex lane;
    shared_mutex book;
};

struct boards {
    belief_board a{1}, b{1}, lane{1}, writers{1};
    belief_board calls{static_cast<std::size_t>(limit)};
    std::atomic<std::uint64_t> busy{0}, failures{0};

    [[nodiscard]] std::array<const belief_board*, 5> all() const { return {&a, &b, &lane, &writers, &calls}; }
};

class Soak : public testing::redis_fixture {
protected:
    /// Waits for a while, is inside for a moment, now and then for longer than its ttl.
    template <class Primitive>
    void once(const Primitive& of, std::vector<belief_board*> where, std::size_t worker, std::mt19937_64& chance) {
        auto held = of.try_acquire_for(milliseconds{chance() % 300});
        if (!held) {
            ++seen->busy;
            return;
        }
        const auto leaves = clock::now() + (chance() % 100 == 0 ? 1'000ms : milliseconds{chance() % 5});
        do {
            for (auto* const board : where)
                board->enter(worker, held->safe_until());
            std::this_thread::sleep_for(1ms);
        } while (clock::now() < leaves && *held);
        for (auto* const board : where)
            board->leave(worker);
    }

    void work_once(const tools& with, std::size_t worker, std::mt19937_64& chance) {
        switch (chance() % 7) {
        case 0: return once(with.lock, {&seen->a}, worker, chance);
        case 1: return once(with.other, {&seen->b}, worker, chance);
        case 2: return once(with.both, {&seen->a, &seen->b}, worker, chance);
        case 3: return once(with.slots, {&seen->calls}, worker, chance);
        case 4: return once(with.lane, {&seen->lane}, worker, chance);
        case 5: return once(with.book, {&seen->writers}, worker, chance);
        default: return once(with.book.shared(), {}, worker, chance);
        }
    }

    void work(const tools& with, std::size_t worker, const std::atomic<bool>& stop) {
        std::mt19937_64 chance{testing::seed("soak " + std::to_string(worker))};
        while (!stop) {
            try {
                work_once(with, worker, chance);
            } catch (const error&) {
                ++seen->failures;  // told: the server was not there
            }
        }
    }

    void disturb(std::mt19937_64& chance) {
        switch (chance() % 4) {
        case 0:
            server.freeze();
            std::this_thread::sleep_for(300ms);
            return server.resume();
        case 1: return static_cast<void>(testing::kill_connections(server));
        case 2: return testing::flush_scripts(server);
        default:
            return std::this_thread::sleep_for(300ms),
                   testing::paused(server, 300ms, testing::paused_commands::all).end();
        }
    }

    void run_for(std::chrono::seconds length) {
        const std::array<tools, 2> clients{tools{server.unix_url()}, tools{server.unix_url()}};
        std::atomic<bool> stop{false};
        std::vector<std::jthread> crew;
        for (std::size_t worker = 0; worker < workers; ++worker)
            crew.emplace_back([&, worker] { work(clients[worker % clients.size()], worker, stop); });
        std::mt19937_64 chance{testing::seed("soak faults")};
        for (const testing::deadline end{length}; !end.expired();) {
            std::this_thread::sleep_for(700ms);  // the pace of the faults
            disturb(chance);
        }
        stop = true;
    }

    [[nodiscard]] bool keeps_no_lock() {
        for (const std::string held : {"lock:a", "lock:b", "lock:lane", "lock:book", "semaphore:calls"})
            if (raw.exists(held) == 1) return false;
        return true;
    }

    std::unique_ptr<boards> seen = std::make_unique<boards>();
};

TEST_F(Soak, AmongFaultsLeavesNothingBehind) {
    const auto descriptors = testing::open_descriptors();
    const auto threads = testing::threads();
    run_for(3s);  // what is made once is made now
    const auto memory = testing::resident_bytes();
    run_for(testing::load_length(8s));

    std::uint64_t entries = 0;
    for (const auto* const board : seen->all()) {
        EXPECT_EQ(board->overruns(), 0u);
        EXPECT_GT(board->entries(), 20u);
        entries += board->entries();
    }
    std::cout << "    " << entries << " looks inside, " << seen->busy << " times busy, " << seen->failures
              << " failures told, memory " << memory / 1024 << " KiB, then " << testing::resident_bytes() / 1024
              << " KiB\n";
    EXPECT_TRUE(eventually(2s, [&] { return testing::open_descriptors() <= descriptors; }));
    EXPECT_TRUE(eventually(2s, [&] { return testing::threads() <= threads; }));
    EXPECT_LT(testing::resident_bytes(), memory + 8 * 1024 * 1024);
    EXPECT_TRUE(eventually(2s, [&] { return keeps_no_lock(); }));
    for (const auto& key : raw.keys())
        EXPECT_NE(raw.pttl(key), -1) << key;  // one of the last may be gone
}

}  // namespace
}  // namespace tranca::soak_test
