// Eight threads, each with a client of its own, through failovers: every wait goes on, and where asynchronous replication
// lets two in, their fences tell them apart.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include "sentinel/sentinel_fixture.hpp"
#include "support/overlap_counter.hpp"

namespace tranca::sentinel_test {
namespace {

constexpr std::size_t workers = 8;

class Crowd : public sentinel_fixture {
protected:
    /// Acquires, is inside for a moment, releases, until told to stop.
    void work(std::size_t worker) {
        const client own{url};
        mutex_options options;
        options.lease.ttl = 3s;
        const mutex lock{own, "thing", options};
        while (!stop) {
            std::optional<guard> held;
            const auto failure = thrown_by([&] { held = lock.try_acquire_for(60s); });
            if (failure) {
                const std::lock_guard lock_notes{mutex_};
                failures.emplace_back(failure->what());
                continue;
            }
            if (!held) continue;
            {
                const testing::overlap_scope inside{overlap, worker};
                note_fence(*held->fence());
                std::this_thread::sleep_for(3ms);  // the work
            }
            static_cast<void>(held->release());
            ++done[worker];
        }
    }

    void note_fence(std::uint64_t fence) {
        const std::lock_guard lock{mutex_};
        fences.push_back(fence);
    }

    void run(const std::function<void()>& fault) {
        std::vector<std::jthread> crew;
        for (std::size_t worker = 0; worker < workers; ++worker)
            crew.emplace_back([this, worker] { work(worker); });
        EXPECT_TRUE(all_get_on());
        fault();
        EXPECT_TRUE(all_get_on());
        stop = true;
    }

    /// From now on everybody enters at least twice more: an entry may have been under way.
    [[nodiscard]] bool all_get_on() {
        std::array<std::uint64_t, workers> before{};
        for (std::size_t i = 0; i < workers; ++i)
            before[i] = done[i];
        return eventually(60s, [&] {
            for (std::size_t i = 0; i < workers; ++i)
                if (done[i] < before[i] + 2) return false;
            return true;
        });
    }

    void expect_no_wait_failed() {
        EXPECT_THAT(failures, ::testing::IsEmpty());
        std::ranges::sort(fences);
        EXPECT_EQ(std::ranges::adjacent_find(fences), fences.end()) << "two holders with one fence";
        std::cout << "    " << fences.size() << " entries, " << overlap.overruns() << " overlaps\n";
    }

    testing::overlap_counter overlap{1};
    std::array<std::atomic<std::uint64_t>, workers> done{};
    std::atomic<bool> stop{false};
    std::mutex mutex_;
    std::vector<std::string> failures;
    std::vector<std::uint64_t> fences;
};

TEST_F(Crowd, OutlivesTheDeathOfTheMaster) {
    run([&] {
        const auto old = set.master_port();
        set.server_at(old).kill_hard();
        set.wait_for_another_master(old);
    });
    expect_no_wait_failed();
}

TEST_F(Crowd, OutlivesAFrozenMasterThatComesBack) {
    run([&] {
        const auto old = set.master_port();
        set.server_at(old).freeze();
        set.wait_for_another_master(old);
        set.server_at(old).resume();
    });
    expect_no_wait_failed();
}

TEST_F(Crowd, OutlivesAReplacementAndADeadSentinel) {
    run([&] {
        const auto old = set.master_port();
        set.freeze_sentinel(2);
        set.fail_over();
        set.wait_for_another_master(old);
        set.resume_sentinel(2);
    });
    expect_no_wait_failed();
}

}  // namespace
}  // namespace tranca::sentinel_test
