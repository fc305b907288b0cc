// Eight processes that read, write, upgrade and downgrade, some seconds, kill -9 and SIGSTOP at random: never a reader beside
// a writer, nor two writers, among those whose guards say true; and in which order of fences.
#include <iostream>
#include <memory>
#include <random>

#include "shared_mutex/belief_ledger.hpp"
#include "shared_mutex/shared_fixture.hpp"
#include "support/crew.hpp"
#include "support/shared_memory.hpp"

namespace tranca::shared_mutex_test {
namespace {

using testing::load_length;

constexpr std::size_t workers = 8;

class SharedLoad : public shared_fixture {
protected:
    struct arena {
        belief_ledger ledger{};
        std::atomic<std::uint64_t> last_write{0};  // the fence of the last writer that was sure
        std::atomic<std::uint64_t> disorders{0};
        std::atomic<std::uint64_t> changes{0};
        std::atomic<bool> stop{false};
    };

    /// A moment inside. Counts only what happened while the guard said true.
    void be_inside(std::size_t worker, lock_mode mode, const guard& held, std::mt19937_64& chance) {
        arena->ledger.enter(worker, mode, held.safe_until());
        const auto mine = *held.fence();
        const auto last = mode == lock_mode::exclusive ? arena->last_write.exchange(mine) : arena->last_write.load();
        if (held && mine <= last) arena->disorders.fetch_add(1);
        const auto leaves = clock::now() + std::chrono::microseconds{chance() % 2'000};
        while (clock::now() < leaves && held) {
        }
    }

    void once(std::size_t worker, const shared_mutex& of, std::mt19937_64& chance) {
        const bool writes = chance() % 4 == 0;
        const milliseconds wait{chance() % 100};
        auto held = writes ? of.try_acquire_for(wait) : of.shared().try_acquire_for(wait);
        if (!held) return;
        be_inside(worker, writes ? lock_mode::exclusive : lock_mode::shared, *held, chance);
        if (chance() % 3 == 0) {
            arena->ledger.leave(worker);  // between the two it is not sure what it is
            const bool changed =
                writes ? of.downgrade(*held)
                       : of.try_upgrade_for(*held, milliseconds{chance() % 20}) == upgrade_result::upgraded;
            if (changed && *held) {
                arena->changes.fetch_add(1);
                be_inside(worker, writes ? lock_mode::shared : lock_mode::exclusive, *held, chance);
            }
        }
        arena->ledger.leave(worker);
    }

    /// Until it is killed or told to stop.
    void work(std::size_t worker, std::uint64_t salt) {
        std::mt19937_64 chance{salt};
        const client own{server.unix_url()};
        const shared_mutex of{own, "thing", {.lease = {.ttl = 300ms}}};
        while (!arena->stop) {
            // A failure: frozen for so long that its answer was of no use.
            if (reason_of([&] { once(worker, of, chance); })) arena->ledger.leave(worker);
        }
    }

    testing::shared_memory<arena> arena;
};

TEST_F(SharedLoad, NeverLetsAReaderInBesideAWriter) {
    testing::crew crew{workers, "shared load", [&](std::size_t worker, std::uint64_t salt) { work(worker, salt); }};
    for (const testing::deadline end{load_length(8s)}; !end.expired();)
        crew.disturb(500ms);
    arena->stop = true;
    crew.finish();
    const auto& ledger = arena->ledger;
    std::cout << "    read " << ledger.read() << " times, written " << ledger.written() << ", beside another "
              << ledger.shared() << ", changed " << arena->changes << ", " << crew.kills() << " killed, "
              << crew.freezes() << " frozen\n";
    EXPECT_EQ(ledger.overruns(), 0u);
    EXPECT_EQ(arena->disorders, 0u);
    EXPECT_GT(ledger.read(), 100u);
    EXPECT_GT(ledger.written(), 50u);
    EXPECT_GT(ledger.shared(), 20u);
    EXPECT_GT(arena->changes, 20u);
    for (const auto& name : raw.keys())
        EXPECT_NE(raw.pttl(name), -1) << name;  // one of the last may be gone
    EXPECT_TRUE(eventually(1s, [&] { return lock.holders().empty(); }));
    EXPECT_TRUE(readers.try_acquire_for(4s));  // after what a dead writer or upgrade kept
    EXPECT_TRUE(lock.try_acquire());
}

}  // namespace
}  // namespace tranca::shared_mutex_test
