// What many waiters do to the server and to each other: they do not keep in step, and the polite one gets its turn.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <latch>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "mutex/mutex_fixture.hpp"
#include "support/monitor_reader.hpp"

namespace tranca::mutex_test {
namespace {

class Crowd : public mutex_fixture {};

// Of some times: how unequal the gaps between neighbours are.
[[nodiscard]] double spread(const std::vector<double>& times) {
    std::vector<double> gaps;
    for (std::size_t i = 1; i < times.size(); ++i)
        gaps.push_back(times[i] - times[i - 1]);
    const double mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
    double squares = 0;
    for (const auto gap : gaps)
        squares += (gap - mean) * (gap - mean);
    return std::sqrt(squares / static_cast<double>(gaps.size())) / mean;
}

// W07: a hundred that begin at once ask again at their own times.
TEST_F(Crowd, ThatBeganTogetherDoesNotKeepInStep) {
    constexpr std::size_t count = 100, rounds = 6;
    occupy(300s);
    std::stop_source stop;
    std::latch start{count};
    std::vector<std::jthread> waiters;
    testing::monitor_reader monitor{server};
    for (std::size_t i = 0; i < count; ++i)
        waiters.emplace_back([&] {
            // Over TCP, where each connection has an address to tell it by.
            const client own{server.url() + "?command_timeout=10s&connect_timeout=10s"};
            start.arrive_and_wait();
            static_cast<void>(mutex{own, "thing", lasting(60s)}.try_acquire_for(300s, stop.get_token()));
        });
    std::vector<double> late;  // ms, of those who ask for the third time or later
    std::size_t looked_at = 0;
    std::map<std::string, int> asked;
    EXPECT_TRUE(eventually(30s, [&] {
        const auto all = monitor.commands_since(looked_at);
        looked_at += all.size();
        for (const auto& one : all) {
            if (one.name() != "BLPOP" || ++asked[one.client] <= 2) continue;
            late.push_back(static_cast<double>(one.time.count()) / 1e3);
        }
        return late.size() >= count * (rounds - 2);
    }));
    stop.request_stop();
    waiters.clear();
    std::ranges::sort(late);
    std::set<std::int64_t> filled;  // milliseconds in which somebody asked
    for (const auto moment : late)
        filled.insert(static_cast<std::int64_t>(moment));
    std::cout << "    spread of the gaps " << spread(late) << ", " << late.size() << " questions in " << filled.size()
              << " different milliseconds\n";
    EXPECT_GT(spread(late), 0.3);
    EXPECT_GT(filled.size(), late.size() / 3);  // in step they fill a few in each round
}

// W08: three take it again as soon as they gave it up, one waits politely.
struct manners {
    std::string title;
    fairness order;
    double least_share;  // of the polite one's waits that must end well
};

class Greed : public mutex_fixture, public ::testing::WithParamInterface<manners> {
protected:
    static constexpr milliseconds hold{5};

    void be_greedy() {
        const client own{server.unix_url()};
        const mutex lock{own, "thing", options()};
        while (!stop) {
            const auto held = lock.acquire();
            std::this_thread::sleep_for(hold);  // its work
        }
    }
    [[nodiscard]] static mutex_options options() {
        auto made = lasting(10s);
        made.fairness = GetParam().order;
        return made;
    }

    std::atomic<bool> stop{false};
};

INSTANTIATE_TEST_SUITE_P(Either, Greed,
                         ::testing::Values(manners{"unfair", fairness::off, 0.95}, manners{"fair", fairness::on, 1.0}),
                         [](const auto& each) { return each.param.title; });

TEST_P(Greed, StarvesNobody) {
    std::vector<std::jthread> greedy;
    for (int i = 0; i < 3; ++i)
        greedy.emplace_back([&] { be_greedy(); });
    const mutex lock{redis, "thing", options()};
    int served = 0, asked = 0;
    std::chrono::nanoseconds longest{0};
    const testing::deadline end{3s};
    while (!end.expired()) {
        const stopwatch since;
        const auto held = lock.try_acquire_for(5s);
        longest = std::max<std::chrono::nanoseconds>(longest, since.elapsed());
        ++asked;
        served += held ? 1 : 0;
    }
    stop = true;
    greedy.clear();
    const auto in_ms = std::chrono::duration_cast<milliseconds>(longest).count();
    std::cout << "    served " << served << " of " << asked << " times, after " << in_ms << " ms at most\n";
    EXPECT_GE(served, static_cast<int>(std::ceil(GetParam().least_share * asked)));
    EXPECT_GT(asked, 20);
    // Three before it and itself, three times over; and half a second for a machine that has other things to do.
    const auto bound = GetParam().order == fairness::on ? milliseconds{4 * hold * 3 + 500ms} : 5s;
    EXPECT_LT(longest, bound);
}

}  // namespace
}  // namespace tranca::mutex_test
