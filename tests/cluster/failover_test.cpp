// A master dies or falls silent, and a replica takes its place: waits go on, what was replicated is renewed there, and where
// asynchronous replication lets two in, their fences tell them apart and the counters say so.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"

namespace tranca::cluster_test {
namespace {

struct loss {
    std::string name;
    std::function<void(redis_server&)> of;
};

const loss& by_death() {
    static const loss it{"Killed", [](redis_server& master) { master.kill_hard(); }};
    return it;
}
const loss& by_silence() {
    static const loss it{"Frozen", [](redis_server& master) { master.freeze(); }};
    return it;
}

// Nobody dies: an operator has a replica take over, and the old master goes on as a replica, its connections too (case N03).
const loss& by_hand() {
    static const loss it{
        "Replaced", [](redis_server& master) {
            const auto replica = master.must({"ROLE"})[2][0][1].text;
            testing::raw_client line{testing::address::tcp(static_cast<std::uint16_t>(std::stoi(replica)))};
            EXPECT_FALSE(line.command({"CLUSTER", "FAILOVER"}).is_error());
        }};
    return it;
}

// Soon enough for a test.
class failover_fixture : public cluster_fixture {
protected:
    failover_fixture() : cluster_fixture{1'500ms} {}
};

class ClusterFailover : public failover_fixture, public ::testing::WithParamInterface<loss> {
protected:
    void choose(std::size_t which, std::string_view prefix = "lock:") {
        name = name_at(which, 5, prefix);
        slot = hash_slot(std::string{prefix} + name);
        master = &set.owner_of(slot);
    }

    const lease_options renewed_each_second{.ttl = 14s, .renew_every = 1s};
    client redis{url};
    client other{url};
    std::string name;
    unsigned slot = 0;
    redis_server* master = nullptr;
};

TEST_P(ClusterFailover, IsOutlivedByHoldersAndWaits) {
    choose(0);
    const auto elsewhere = name_at(1);
    auto held = mutex{redis, name, {.lease = renewed_each_second}}.acquire();
    auto apart = mutex{redis, elsewhere, lasting(14s)}.acquire();
    auto both = multi_mutex{redis, {name_at(0, 8), name_at(2, 8)}, multi_options{.lease = {.ttl = 14s}}}.acquire();
    const shared_mutex book{redis, name_at(0, 9)};
    auto reader = book.shared().acquire();
    const auto lost = held.lost();
    std::optional<guard> got;
    std::optional<error> failure;
    std::jthread waiter{[&] {
        failure = thrown_by([&] { got = mutex{other, name, lasting(20s)}.try_acquire_for(60s); });
    }};
    EXPECT_TRUE(eventually(5s, [&] { return master->raw().info("blocked_clients") == "1"; }));
    set.wait_in_sync();
    GetParam().of(*master);
    // From the first moment on.
    std::optional<guard> late;
    std::jthread newcomer{[&] { late = mutex{other, name_at_any(30)}.try_acquire_for(60s); }};
    set.wait_for_heir(*master, slot);
    const auto then = held.safe_until();
    EXPECT_TRUE(eventually(20s, [&] { return held.safe_until() > then || lost.stop_requested(); }));
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_TRUE(held && apart && both && reader);
    EXPECT_TRUE(eventually(10s, [&] { return !thrown_by([&] { EXPECT_TRUE(both.extend()); }); }));
    EXPECT_FALSE(got);
    EXPECT_TRUE(eventually(10s, [&] { return held.release() != release_result::unknown; }));
    waiter.join();
    newcomer.join();
    EXPECT_FALSE(failure) << failure->what();
    ASSERT_TRUE(got);
    EXPECT_TRUE(late);
    EXPECT_EQ(got->release(), release_result::released);
    EXPECT_EQ(both.release(), release_result::released);
    EXPECT_EQ(reader.release(), release_result::released);
    EXPECT_EQ(apart.release(), release_result::released);
}

TEST_P(ClusterFailover, LeavesThePermitsThatWereReplicated) {
    choose(1, "semaphore:");
    const semaphore places{redis, name, 2, {.lease = renewed_each_second}};
    auto one = places.acquire();
    auto two = places.acquire();
    set.wait_in_sync();
    GetParam().of(*master);
    set.wait_for_heir(*master, slot);
    const auto then = one.safe_until();
    EXPECT_TRUE(eventually(20s, [&] { return one.safe_until() > then; }));
    EXPECT_TRUE(one && two);
    EXPECT_FALSE(places.try_acquire());
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_TRUE(places.try_acquire_for(10s));
}

INSTANTIATE_TEST_SUITE_P(Of, ClusterFailover, ::testing::Values(by_death(), by_silence(), by_hand()),
                         [](const auto& shown) { return shown.param.name; });

class ClusterSplit : public failover_fixture {};

// The replica has not heard of the grant when it is promoted: two hold one name, for a while.
TEST_F(ClusterSplit, IsToldByTheFencesAndTheCounters) {
    const auto name = name_at(0);
    const auto slot = slot_of_lock(name);
    auto& master = set.owner_of(slot);
    const auto resource = name_at(1, 4, "");
    const auto numbers = std::make_shared<counters>();
    const client first{url, {.sink = numbers}};
    const client second{url};
    auto& replica = replica_of(master);
    replica.freeze();  // for less than it takes to be called dead
    master.must({"CLIENT", "KILL", "TYPE", "REPLICA"});
    auto options = lasting(20s);
    options.lease.renew_every = 1s;
    auto held = mutex{first, name, options}.acquire();
    const auto lost = held.lost();
    master.kill_hard();
    replica.resume();
    auto newer = mutex{second, name, lasting(20s)}.try_acquire_for(60s);
    ASSERT_TRUE(newer);
    EXPECT_GT(*newer->fence(), *held.fence());
    EXPECT_TRUE(fenced_write(second, resource, *newer->fence(), "of the newer one"));
    EXPECT_FALSE(fenced_write(first, resource, *held.fence(), "of the older one"));
    EXPECT_TRUE(eventually(10s, [&] { return lost.stop_requested(); }));
    EXPECT_FALSE(held);
    EXPECT_EQ(numbers->count(event::kind::lease_lost), 1u);
    EXPECT_TRUE(*newer);
    EXPECT_EQ(held.release(), release_result::taken);
    EXPECT_EQ(numbers->count(event::kind::release_taken), 1u);
    EXPECT_EQ(newer->release(), release_result::released);
}

/// Who is inside, by their fences: of two, the one with the smaller fence has been displaced, and is told so.
class register_of_holders {
public:
    void enter(std::size_t worker, std::uint64_t fence) {
        const std::lock_guard lock{mutex_};
        for (auto& [who, theirs] : inside_) {
            ++overlaps_;
            if (theirs.fence >= fence) ++not_told_apart_;
            theirs.displaced = true;
        }
        inside_[worker] = {fence, false};
        fences_.push_back(fence);
    }

    /// True: another one came in meanwhile.
    [[nodiscard]] bool leave(std::size_t worker) {
        const std::lock_guard lock{mutex_};
        const bool displaced = inside_.at(worker).displaced;
        inside_.erase(worker);
        return displaced;
    }

    [[nodiscard]] std::size_t entries() {
        const std::lock_guard lock{mutex_};
        return fences_.size();
    }
    [[nodiscard]] std::uint64_t overlaps() const { return overlaps_; }
    [[nodiscard]] std::uint64_t not_told_apart() const { return not_told_apart_; }
    [[nodiscard]] bool has_a_fence_twice() {
        std::ranges::sort(fences_);
        return std::ranges::adjacent_find(fences_) != fences_.end();
    }

private:
    struct holder {
        std::uint64_t fence = 0;
        bool displaced = false;
    };

    std::mutex mutex_;
    std::map<std::size_t, holder> inside_;
    std::vector<std::uint64_t> fences_;
    std::uint64_t overlaps_ = 0;
    std::uint64_t not_told_apart_ = 0;
};

/// Eight threads, each with a client of its own, that want one name.
class ClusterCrowd : public failover_fixture, public ::testing::WithParamInterface<loss> {
protected:
    static constexpr std::size_t workers = 8;
    static constexpr milliseconds bound{30'000};
    using taking = std::function<std::optional<guard>(const client&)>;

    void work(std::size_t worker, const taking& take) {
        const client own{url, {.sink = numbers}};
        while (!stop) {
            std::optional<guard> held;
            const auto failure = thrown_by([&] { held = take(own); });
            if (failure || !held) {
                const std::lock_guard lock{notes};
                failures.emplace_back(failure ? failure->what() : "not in time");
                continue;
            }
            holders.enter(worker, *held->fence());
            std::this_thread::sleep_for(3ms);  // the work
            const bool displaced = holders.leave(worker);
            if (held->release() == release_result::released && displaced) ++untold;
            ++done[worker];
        }
    }

    void run(unsigned slot, const taking& take) {
        std::vector<std::jthread> crew;
        for (std::size_t worker = 0; worker < workers; ++worker)
            crew.emplace_back([this, worker, &take] { work(worker, take); });
        EXPECT_TRUE(all_get_on());
        auto& master = set.owner_of(slot);
        const stopwatch since;
        GetParam().of(master);
        set.wait_for_heir(master, slot);
        const auto without = since.elapsed_ms();
        EXPECT_TRUE(all_get_on());
        const auto recovered = since.elapsed_ms();
        stop = true;
        crew.clear();
        EXPECT_THAT(failures, ::testing::IsEmpty());
        EXPECT_FALSE(holders.has_a_fence_twice());
        EXPECT_EQ(holders.not_told_apart(), 0u);
        EXPECT_EQ(untold, 0u) << "a holder who was displaced was told that it had released";
        EXPECT_LT(recovered - without, bound);
        std::cout << "    " << holders.entries() << " entries, " << holders.overlaps()
                  << " overlaps; a new master after " << without.count() << " ms, all were in again after "
                  << recovered.count() << " ms; " << numbers->count(event::kind::lease_lost) << " lost, "
                  << numbers->count(event::kind::release_taken) + numbers->count(event::kind::release_expired)
                  << " told at release\n";
        const auto told = numbers->count(event::kind::lease_lost) + numbers->count(event::kind::release_taken) +
                          numbers->count(event::kind::release_expired) + numbers->count(event::kind::release_unknown);
        EXPECT_GE(told, holders.overlaps());
    }

    /// From now on everybody enters at least twice more: an entry may have been under way.
    [[nodiscard]] bool all_get_on() {
        std::array<std::uint64_t, workers> before{};
        for (std::size_t i = 0; i < workers; ++i)
            before[i] = done[i];
        return eventually(bound, [&] {
            for (std::size_t i = 0; i < workers; ++i)
                if (done[i] < before[i] + 2) return false;
            return true;
        });
    }

    register_of_holders holders;
    std::shared_ptr<counters> numbers = std::make_shared<counters>();
    std::array<std::atomic<std::uint64_t>, workers> done{};
    std::atomic<std::uint64_t> untold{0};
    std::atomic<bool> stop{false};
    std::mutex notes;
    std::vector<std::string> failures;
};

TEST_P(ClusterCrowd, OutlivesTheLossOfAMaster) {
    const auto name = name_at(0);
    run(slot_of_lock(name), [&](const client& own) { return mutex{own, name, lasting(4s)}.try_acquire_for(60s); });
}

TEST_P(ClusterCrowd, OfManyNamesOutlivesTheLossOfAMaster) {
    const std::vector<std::string> names{name_at(0), name_at(1), name_at(2)};
    multi_options options;
    options.lease.ttl = 4s;
    run(slot_of_lock(names[1]), [&](const client& own) {
        return multi_mutex{own, names, options}.try_acquire_for(60s);
    });
}

INSTANTIATE_TEST_SUITE_P(Of, ClusterCrowd, ::testing::Values(by_death(), by_silence(), by_hand()),
                         [](const auto& shown) { return shown.param.name; });

}  // namespace
}  // namespace tranca::cluster_test
