// The network splits while eight processes hold and wait. Where nobody reaches the old master any more, nobody is let in twice;
// where half of them still do, two hold at a time, and their fences say who is the newer one.
#include <array>
#include <atomic>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "sentinel/hold_ledger.hpp"
#include "sentinel/sentinel_fixture.hpp"
#include "support/crew.hpp"
#include "support/shared_memory.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::sentinel_test {
namespace {

constexpr std::size_t processes = 8;

/// What the processes share.
struct blackboard {
    hold_ledger ledger;
    std::array<std::atomic<std::uint64_t>, processes> done{};
    std::atomic<bool> stop{false};
    std::atomic<bool> stay{false};  // who is inside stays for as long as its guard says yes
    std::atomic<std::uint64_t> inside{0};
    std::atomic<std::uint64_t> too_few{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::uint64_t> displaced{0};  // told so by their release
};

[[nodiscard]] mutex_options renewed_soon(replicas wanted = {}) {
    mutex_options made;
    made.lease = {.ttl = 20s, .renew_every = 500ms};
    made.replicas = wanted;
    return made;
}

/// Who stays with the old master, holds there what the next one never heard of, and is not told before the network heals.
class older_side {
public:
    explicit older_side(const std::string& url) : redis_{url, {.sink = numbers_}} { redis_.command("PING"); }

    void take() {
        held_ = mutex{redis_, "ledger", renewed_soon()}.acquire();
        const mutex careful{redis_, "other", renewed_soon({.count = 1, .within = 50ms})};
        const auto refusal = thrown_by([&] { static_cast<void>(careful.try_acquire()); });
        ASSERT_TRUE(refusal);
        EXPECT_EQ(refusal->reason(), errc::too_few_replicas);
    }

    void expect_displaced_by(const client& there, const guard& newer) {
        EXPECT_TRUE(held_);
        EXPECT_TRUE(newer);
        EXPECT_GT(*newer.fence(), *held_.fence());
        EXPECT_TRUE(fenced_write(there, "resource", *newer.fence(), "of the newer one"));
        EXPECT_FALSE(fenced_write(there, "resource", *held_.fence(), "of the older one"));
        EXPECT_EQ(numbers_->count(event::kind::lease_lost), 0u);
    }

    void expect_told() {
        EXPECT_TRUE(eventually(10s, [&] { return held_.lost().stop_requested(); }));
        EXPECT_FALSE(held_);
        EXPECT_EQ(numbers_->count(event::kind::lease_lost), 1u);
        EXPECT_EQ(held_.release(), release_result::taken);
        EXPECT_EQ(numbers_->count(event::kind::release_taken), 1u);
    }

private:
    std::shared_ptr<counters> numbers_ = std::make_shared<counters>();
    client redis_;
    guard held_;
};

TEST(HoldLedger, CountsWhoBelievedAtTheSameMoment) {
    const auto ledger = std::make_unique<hold_ledger>();
    const auto at = [](int second) { return clock::time_point{std::chrono::seconds{second}}; };
    ledger->add({.asked = at(1), .first = at(2), .last = at(5), .fence = 10});
    ledger->add({.asked = at(1), .first = at(6), .last = at(9), .fence = 20});
    EXPECT_EQ(ledger->overlaps(), 0u);
    ledger->add({.asked = at(4), .first = at(4), .last = at(6), .fence = 15});
    EXPECT_EQ(ledger->overlaps(), 2u);
    EXPECT_EQ(ledger->fences_out_of_order(), 0u);  // 15 asked before 20 was there
    ledger->add({.asked = at(7), .first = at(10), .last = at(11), .fence = 19});
    EXPECT_EQ(ledger->fences_out_of_order(), 1u);
    EXPECT_FALSE(ledger->has_a_fence_twice());
    ledger->add({.asked = at(12), .first = at(13), .last = at(14), .fence = 20});
    EXPECT_TRUE(ledger->has_a_fence_twice());
}

class Partition : public ::testing::Test {
protected:
    Partition() {
        set.wait_until_whole();
        old = set.master_port();
        set.master().must({"FLUSHALL"});
        set.wait_in_sync();
    }

    /// Half of them ask the sentinels only when something fails, the others all the time.
    [[nodiscard]] static bool lags(std::size_t worker) { return worker < processes / 2; }

    [[nodiscard]] std::string url_of(bool lagging) const {
        return set.url() + "?command_timeout=500ms&connect_timeout=500ms&check_every=" + (lagging ? "0ms" : "50ms");
    }

    /// In a child: acquires, is inside for a moment, releases, until told to stop.
    void work(std::size_t worker, const mutex_options& options) {
        const auto numbers = std::make_shared<counters>();
        const client own{url_of(lags(worker)), {.sink = numbers}};
        const mutex lock{own, "thing", options};
        while (!board->stop) {
            const auto asked = clock::now();
            std::optional<guard> held;
            const auto failure = thrown_by([&] { held = lock.try_acquire_for(60s); });
            if (failure && failure->reason() == errc::too_few_replicas) ++board->too_few;
            else if (failure) throw std::runtime_error{"worker " + std::to_string(worker) + ": " + failure->what()};
            if (!held) continue;
            be_inside(*held, asked, worker);
            static_cast<void>(held->release());
            ++board->done[worker];
        }
        board->lost += numbers->count(event::kind::lease_lost);
        board->displaced += numbers->count(event::kind::release_taken) + numbers->count(event::kind::release_expired);
    }

    void be_inside(const guard& held, clock::time_point asked, std::size_t worker) {
        if (!held) return;
        hold mine{.asked = asked, .first = clock::now(), .last = {}, .fence = *held.fence(), .worker = worker};
        ++board->inside;
        do {
            const auto now = clock::now();
            if (!held) break;
            mine.last = now;
            std::this_thread::sleep_for(1ms);
        } while (board->stay || clock::now() < mine.first + 3ms);
        --board->inside;
        board->ledger.add(mine);
    }

    /// From now on everybody enters at least twice more: an entry may have been under way.
    [[nodiscard]] bool all_get_on() {
        std::array<std::uint64_t, processes> before{};
        for (std::size_t i = 0; i < processes; ++i)
            before[i] = board->done[i];
        return eventually(60s, [&] {
            for (std::size_t i = 0; i < processes; ++i)
                if (board->done[i] < before[i] + 2) return false;
            return true;
        });
    }

    void heal() {
        gate().pass();
        EXPECT_TRUE(eventually(40s, [&] { return set.role_of(old) == "slave"; }));
    }

    /// As an operator would: its connections live on, and READONLY is all that those who stayed there hear.
    void demote_by_hand(std::uint16_t next) {
        auto& master = set.server_at(old);
        master.must({"CONFIG", "RESETSTAT"});
        master.must({"REPLICAOF", "127.0.0.1", std::to_string(next)});
        EXPECT_TRUE(all_get_on());
        EXPECT_THAT(master.must({"INFO", "ERRORSTATS"}).text, ::testing::HasSubstr("errorstat_READONLY"));
    }

    void finish(testing::crew& crew) {
        EXPECT_TRUE(all_get_on());
        board->stop = true;
        crew.finish();
        EXPECT_FALSE(board->ledger.is_full());
        EXPECT_FALSE(board->ledger.has_a_fence_twice());
        EXPECT_EQ(board->ledger.fences_out_of_order(), 0u);
        std::cout << "    " << board->ledger.size() << " entries, " << board->ledger.overlaps() << " overlaps; "
                  << board->lost << " lost, " << board->displaced << " displaced, " << board->too_few
                  << " without a replica\n";
    }

    [[nodiscard]] testing::tcp_gate& gate() { return set.gate_at(old); }

    [[nodiscard]] static sentinel_set& set_behind_gates() {
        static sentinel_set made{{.through_gates = true}};
        return made;
    }

    sentinel_set& set{set_behind_gates()};
    std::uint16_t old = 0;  // the port of the master to be cut off
    testing::shared_memory<blackboard> board;
};

// A grant that a replica has acknowledged is known to the next master, so that its holder is alone for as long as its guard
// says yes: also one who is inside when it happens, and stays.
TEST_F(Partition, FromEverybodyLetsNobodyInTwice) {
    mutex_options options;
    options.lease.ttl = 6s;
    options.replicas = {.count = 1, .within = 200ms};
    testing::crew crew{processes, "partition", [&](std::size_t worker, auto) { return work(worker, options); }};
    EXPECT_TRUE(all_get_on());
    board->stay = true;
    EXPECT_TRUE(eventually(10s, [&] { return board->inside == 1; }));
    gate().black_hole(testing::direction::to_server);
    gate().black_hole(testing::direction::to_client);
    auto& next = set.wait_for_another_master(old);
    EXPECT_TRUE(
        eventually(20s, [&] { return next.raw().info("blocked_clients") != "0"; }));  // the waits have come there
    board->stay = false;
    EXPECT_TRUE(all_get_on());
    heal();
    finish(crew);
    EXPECT_EQ(board->ledger.overlaps(), 0u);
}

// Servers and sentinels no longer reach the master, but clients do, and half of them have no reason to ask anybody: each side
// has a holder of its own. Their fences tell them apart; whoever asks for replicas gets nothing from a master without any. When
// the old master is a replica at last, those who stayed with it go on elsewhere.
TEST_F(Partition, FromItsReplicasIsToldByTheFences) {
    mutex_options options;
    options.lease.ttl = 4s;
    testing::crew crew{processes, "partition", [&](std::size_t worker, auto) { return work(worker, options); }};
    EXPECT_TRUE(all_get_on());
    older_side first{url_of(true)};
    gate().black_hole_from(sentinel_set::own_address);
    first.take();
    EXPECT_TRUE(all_get_on());  // nobody has noticed anything
    set.wait_for_another_master(old);
    board->stay = true;
    EXPECT_TRUE(eventually(20s, [&] { return board->inside == 2; }));  // one here and one there
    board->stay = false;
    EXPECT_TRUE(all_get_on());
    const client there{url_of(false)};
    auto newer = mutex{there, "ledger", renewed_soon()}.try_acquire_for(30s);
    ASSERT_TRUE(newer);
    first.expect_displaced_by(there, *newer);
    demote_by_hand(set.master_port());
    heal();
    first.expect_told();
    EXPECT_EQ(newer->release(), release_result::released);
    finish(crew);
    EXPECT_GT(board->ledger.overlaps(), 0u);
}

}  // namespace
}  // namespace tranca::sentinel_test
