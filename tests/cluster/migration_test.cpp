// Slots that move while their locks are held, waited for, renewed and released.
#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include "cluster/cluster_fixture.hpp"
#include "support/overlap_counter.hpp"

namespace tranca::cluster_test {
namespace {

class ClusterMigration : public cluster_fixture {
protected:
    void choose(std::size_t which, std::string_view prefix = "lock:") {
        name = name_at(which, 5, prefix);
        main_key = std::string{prefix} + name;
        slot = hash_slot(main_key);
        from = &set.owner_of(slot);
        to = &set.server(another_than(*from));
    }
    [[nodiscard]] bool somebody_waits_at(redis_server& server) { return server.raw().info("blocked_clients") == "1"; }

    client redis{url};
    client other{url};
    std::string name;
    std::string main_key;
    unsigned slot = 0;
    redis_server* from = nullptr;
    redis_server* to = nullptr;
};

TEST_F(ClusterMigration, IsOutlivedByAHolder) {
    choose(0);
    auto held = mutex{redis, name, {.lease = renewed_often()}}.acquire();
    const auto lost = held.lost();
    set.begin_move(slot, *from, *to);
    set.move_keys(slot, *from, *to);
    // Renewed half-way by ASK, without a MOVED.
    auto before = held.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return held.safe_until() > before + some_renewals || lost.stop_requested(); }));
    EXPECT_EQ(set.errors_said("MOVED"), 0);
    set.end_move(slot, *from, *to);
    before = held.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return held.safe_until() > before + some_renewals || lost.stop_requested(); }));
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_TRUE(held.extend());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(to->raw().exists(main_key), 0);
    EXPECT_TRUE(mutex(other, name).try_acquire());
}

TEST_F(ClusterMigration, IsOutlivedByAWaitBlockedAtTheOldNode) {
    choose(1);
    auto held = mutex{redis, name, lasting(20s)}.acquire();
    std::optional<guard> got;
    std::jthread waiter{[&] { got = mutex{other, name, lasting(20s)}.try_acquire_for(20s); }};
    ASSERT_TRUE(eventually(5s, [&] { return somebody_waits_at(*from); }));
    set.move_slot(slot, set.index_of(*to));
    // It goes on at the new node, by the end of a slice at the latest.
    EXPECT_TRUE(eventually(3s, [&] { return somebody_waits_at(*to); }));
    EXPECT_FALSE(got);
    const stopwatch since;
    EXPECT_EQ(held.release(), release_result::released);
    waiter.join();
    ASSERT_TRUE(got);
    EXPECT_LT(since.elapsed(), 800ms);
    EXPECT_GT(*got->fence(), *held.fence());
    EXPECT_TRUE(got->extend());
}

TEST_F(ClusterMigration, IsOutlivedByAWaitThatBeginsHalfWay) {
    choose(2);
    auto held = mutex{redis, name, lasting(20s)}.acquire();
    set.begin_move(slot, *from, *to);
    set.move_keys(slot, *from, *to);
    std::optional<guard> got;
    std::jthread waiter{[&] { got = mutex{other, name, lasting(20s)}.try_acquire_for(20s); }};
    EXPECT_TRUE(eventually(5s, [&] { return set.errors_said("ASK") > 0; }));
    std::optional<release_result> released;
    std::jthread releasing{[&] { released = held.release(); }};
    EXPECT_TRUE(eventually(5s, [&] { return set.errors_said("TRYAGAIN") > 4; }));  // asked again and again
    set.end_move(slot, *from, *to);
    releasing.join();
    waiter.join();
    EXPECT_EQ(released, release_result::released);
    ASSERT_TRUE(got);
    EXPECT_GT(*got->fence(), *held.fence());
}

// By ASK, and cut short there.
TEST_F(ClusterMigration, IsOutlivedByAWaitBlockedAtTheNextNode) {
    choose(2);
    auto held = mutex{redis, name, lasting(20s)}.acquire();
    std::stop_source stop;
    std::optional<guard> got;
    std::jthread waiter{[&] { got = mutex{other, name, lasting(20s)}.try_acquire_for(20s, stop.get_token()); }};
    ASSERT_TRUE(eventually(5s, [&] { return somebody_waits_at(*from); }));
    set.begin_move(slot, *from, *to);
    set.move_keys(slot, *from, *to);
    EXPECT_TRUE(eventually(3s, [&] { return somebody_waits_at(*to); }));
    EXPECT_EQ(set.errors_said("MOVED"), 0);
    const stopwatch since;
    stop.request_stop();
    waiter.join();
    EXPECT_LT(since.elapsed(), 300ms);
    EXPECT_FALSE(got);
    set.end_move(slot, *from, *to);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(mutex(other, name).try_acquire());
}

// For as long as the lease lasts, which is longer than a command may take.
TEST_F(ClusterMigration, IsWaitedForByAReleaseAndARenewal) {
    choose(0);
    client hasty{set.url() + "?command_timeout=200ms"};
    auto held = mutex{hasty, name, lasting(10s)}.acquire();
    std::optional<guard> waits;
    std::jthread waiter{[&] { waits = mutex{other, name, lasting(10s)}.try_acquire_for(20s); }};
    ASSERT_TRUE(eventually(5s, [&] { return somebody_waits_at(*from); }));  // so there is a mark
    set.begin_move(slot, *from, *to);
    set.move_keys(slot, *from, *to, main_key);
    std::optional<release_result> released;
    std::jthread releasing{[&] { released = held.release(); }};
    EXPECT_TRUE(testing::throughout(700ms, [&] { return !released; }));
    set.end_move(slot, *from, *to);
    releasing.join();
    waiter.join();
    EXPECT_EQ(released, release_result::released);
    EXPECT_TRUE(waits);
}

// Nobody hammers on two nodes that send him to and fro.
TEST_F(ClusterMigration, IsBorneWithPauses) {
    choose(0);
    set.begin_move(slot, *from, *to);
    const stopwatch since;
    EXPECT_EQ(thrown_by([&] {
                  static_cast<void>(mutex{redis, name}.try_acquire_for(700ms));
              })
                  .value()
                  .code(),
              errc::try_again);
    EXPECT_GE(since.elapsed(), 690ms);
    EXPECT_LT(since.elapsed(), 3s);
    EXPECT_LE(set.errors_said("ASK"), 2 * 700 / 10);
    set.end_move(slot, *from, *to);
    EXPECT_TRUE(mutex(redis, name).try_acquire());
}

TEST_F(ClusterMigration, IsOutlivedByTheOwnersOfPermits) {
    choose(1, "semaphore:");
    permit_options options;
    options.lease = renewed_often();
    const semaphore places{redis, name, 2, options};
    auto one = places.acquire();
    auto two = places.acquire();
    set.move_slot(slot, set.index_of(*to));
    EXPECT_FALSE(places.try_acquire());
    const auto before = one.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return one.safe_until() > before + some_renewals; }));
    std::optional<guard> got;
    std::jthread waiter{[&] { got = semaphore{other, name, 2, options}.try_acquire_for(20s); }};
    EXPECT_TRUE(eventually(5s, [&] { return somebody_waits_at(*to); }));
    EXPECT_EQ(two.release(), release_result::released);
    waiter.join();
    EXPECT_TRUE(got);
    EXPECT_TRUE(one);
}

TEST_F(ClusterMigration, IsOutlivedByReadersAndAWaitingWriter) {
    choose(2);
    const shared_mutex book{redis, name};
    auto reader = book.shared().acquire();
    std::optional<guard> writer;
    std::jthread writing{[&] { writer = shared_mutex{other, name}.try_acquire_for(20s); }};
    EXPECT_TRUE(eventually(5s, [&] { return somebody_waits_at(*from); }));
    set.move_slot(slot, set.index_of(*to));
    EXPECT_TRUE(eventually(5s, [&] { return somebody_waits_at(*to); }));
    EXPECT_FALSE(writer);
    EXPECT_EQ(reader.release(), release_result::released);
    writing.join();
    ASSERT_TRUE(writer);
    EXPECT_FALSE(book.shared().try_acquire());
}

TEST_F(ClusterMigration, IsOutlivedByAHolderOfManyNames) {
    choose(0);
    const std::vector<std::string> names{name, name_at(1), name_at(2)};
    multi_options options;
    options.lease = renewed_often();
    auto held = multi_mutex{redis, names, options}.acquire();
    set.move_slot(slot, set.index_of(*to));
    const auto before = held.safe_until();
    EXPECT_TRUE(eventually(5s, [&] { return held.safe_until() > before + some_renewals; }));
    std::optional<guard> got;
    std::jthread waiter{[&] { got = multi_mutex{other, names, options}.try_acquire_for(20s); }};
    EXPECT_TRUE(eventually(5s, [&] {
        for (std::size_t i = 0; i < cluster_set::size; ++i)
            if (somebody_waits_at(set.server(i))) return true;
        return false;
    }));
    EXPECT_EQ(held.release(), release_result::released);
    waiter.join();
    ASSERT_TRUE(got);
    EXPECT_GT(*got->fence(), *held.fence());
}

/// Threads with a client of their own, at work on one name while its slot goes from node to node.
class ClusterReshard : public ClusterMigration {
protected:
    static constexpr std::size_t workers = 8;
    static constexpr milliseconds bound{15'000};

    void work(std::size_t worker, const std::function<std::optional<guard>(const client&)>& take) {
        const client own{url};
        while (!stop) {
            const stopwatch since;
            std::optional<guard> held;
            const auto failure = thrown_by([&] { held = take(own); });
            const auto waited = since.elapsed_ms().count();
            for (auto longest = longest_wait.load();
                 longest < waited && !longest_wait.compare_exchange_weak(longest, waited);) {
            }
            if (failure || !held) {
                const std::lock_guard lock{notes};
                failures.emplace_back(failure ? failure->what() : "not in time");
                continue;
            }
            {
                const testing::overlap_scope inside{overlap, worker};
                std::this_thread::sleep_for(1ms);
            }
            if (held->release() != release_result::released) ++lost;
            ++done[worker];
        }
    }

    /// Moves the slot to and fro `times` while all are at work.
    void run(int times, const std::function<std::optional<guard>(const client&)>& take) {
        std::vector<std::jthread> crew;
        for (std::size_t worker = 0; worker < workers; ++worker)
            crew.emplace_back([this, worker, &take] { work(worker, take); });
        for (int i = 0; i < times; ++i) {
            const auto before = entries();
            EXPECT_TRUE(eventually(bound, [&] { return entries() > before + 20; }));
            move_slowly();
        }
        std::array<std::uint64_t, workers> before{};
        for (std::size_t i = 0; i < workers; ++i)
            before[i] = done[i];
        EXPECT_TRUE(eventually(bound, [&] {
            for (std::size_t i = 0; i < workers; ++i)
                if (done[i] == before[i]) return false;
            return true;
        }));
        stop = true;
        crew.clear();
        std::cout << "    " << entries() << " entries, " << overlap.overruns() << " overlaps, longest wait "
                  << longest_wait << " ms, " << set.errors_said("MOVED") << " MOVED, " << set.errors_said("ASK")
                  << " ASK, " << set.errors_said("TRYAGAIN") << " TRYAGAIN\n";
    }

    /// With all at work in each half-way state.
    void move_slowly() {
        auto& source = set.owner_of(slot);
        auto& target = set.server(another_than(source));
        const auto let_them_meet_it = [&] {
            const auto sent_away = [&] { return set.errors_said("ASK") + set.errors_said("TRYAGAIN"); };
            const auto before = sent_away();
            static_cast<void>(eventually(150ms, [&] { return sent_away() > before + 8; }));
        };
        set.begin_move(slot, source, target);
        let_them_meet_it();
        set.move_keys(slot, source, target, main_key);
        let_them_meet_it();
        set.move_keys(slot, source, target);
        let_them_meet_it();
        set.end_move(slot, source, target);
    }

    [[nodiscard]] std::uint64_t entries() const { return overlap.entries(); }

    void expect_nothing_went_wrong() {
        EXPECT_THAT(failures, ::testing::IsEmpty());
        EXPECT_EQ(overlap.overruns(), 0u);
        EXPECT_EQ(lost, 0u);
        EXPECT_LT(longest_wait, bound.count());
    }

    testing::overlap_counter overlap{1};
    std::array<std::atomic<std::uint64_t>, workers> done{};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::int64_t> longest_wait{0};
    std::atomic<bool> stop{false};
    std::mutex notes;
    std::vector<std::string> failures;
};

TEST_F(ClusterReshard, ToAndFroLetsNobodyInTwice) {
    choose(0);
    run(10, [&](const client& own) { return mutex{own, name, lasting(10s)}.try_acquire_for(bound); });
    expect_nothing_went_wrong();
}

TEST_F(ClusterReshard, LetsNobodyIntoAnEntryOfOneTwice) {
    choose(1, "semaphore:");
    permit_options options;
    options.lease.ttl = 10s;
    run(6, [&](const client& own) { return semaphore{own, name, 1, options}.try_acquire_for(bound); });
    expect_nothing_went_wrong();
}

TEST_F(ClusterReshard, LetsNobodyTakeOneOfManyNames) {
    choose(2);
    const std::vector<std::string> names{name, name_at(0), name_at(1)};
    multi_options options;
    options.lease.ttl = 10s;
    run(6, [&](const client& own) { return multi_mutex{own, names, options}.try_acquire_for(bound); });
    expect_nothing_went_wrong();
}

}  // namespace
}  // namespace tranca::cluster_test
