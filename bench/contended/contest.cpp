#include "contended/contest.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <tranca/client.hpp>

#include "contended/player.hpp"
#include "measure/rungs.hpp"
#include "process/crew.hpp"
#include "process/shared_array.hpp"
#include "server/command_counts.hpp"

namespace tranca::bench {
namespace {

using steady = std::chrono::steady_clock;

// What one worker has done.
struct score {
    std::uint64_t in_time = 0;
    std::uint64_t all = 0;
    std::uint64_t longest_wait = 0;
    std::uint64_t overlaps = 0;
    histogram wait{};
};

// Where all of them meet.
struct arena {
    const contest& setting;
    const endpoint& where;
    std::string name;
    shared_array<score> scores;
    shared_array<std::atomic<int>> inside;  // how many are in the critical section
};

// How many may be inside.
int places_of(const contest& setting) {
    return setting.primitive.starts_with("semaphore") ? static_cast<int>(contested_permits) : 1;
}

void play_round(player& lock, score& mine, std::atomic<int>& inside, int places, const baton& signs) {
    const auto since = steady::now();
    lock.acquire();
    const auto waited = static_cast<std::uint64_t>(std::chrono::nanoseconds(steady::now() - since).count());
    if (inside.fetch_add(1) >= places) ++mine.overlaps;
    inside.fetch_sub(1);
    lock.release();
    if (!signs.stopped()) ++mine.in_time;
    ++mine.all;
    mine.wait.record(waited);
    mine.longest_wait = std::max(mine.longest_wait, waited);
}

void play(player& lock, arena& ground, std::size_t worker, const baton& signs) {
    const int places = places_of(ground.setting);
    while (!signs.stopped())
        play_round(lock, ground.scores[worker], ground.inside[0], places, signs);
}

std::unique_ptr<player> warm_player(const arena& ground, const client& redis) {
    auto lock = make_player(ground.setting.primitive, redis, ground.name);
    lock->warm_up();
    return lock;
}

void work_alone(arena& ground, int index, baton& signs) {
    const client redis(ground.where);
    const auto lock = warm_player(ground, redis);
    signs.arrive();
    play(*lock, ground, static_cast<std::size_t>(index), signs);
}

// One thread of several: what it throws is kept until all have ended.
std::exception_ptr work_beside_others(arena& ground, const client& redis, std::size_t index, std::latch& ready,
                                      std::latch& go, const baton& signs) {
    bool counted = false;
    try {
        const auto lock = warm_player(ground, redis);
        ready.count_down();
        counted = true;
        go.wait();
        play(*lock, ground, index, signs);
        return nullptr;
    } catch (...) {
        if (!counted) ready.count_down();
        return std::current_exception();
    }
}

void work_in_threads(arena& ground, baton& signs) {
    const client redis(ground.where);
    const auto count = static_cast<std::size_t>(ground.setting.workers);
    std::vector<std::exception_ptr> failures(count);
    std::latch ready(ground.setting.workers), go(1);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < count; ++i)
            threads.emplace_back([&, i] { failures[i] = work_beside_others(ground, redis, i, ready, go, signs); });
        ready.wait();
        signs.arrive();
        go.count_down();
    }
    for (const auto& each : failures) {
        if (each) std::rethrow_exception(each);
    }
}

std::uint64_t read_since(const command_counts& before, wire& redis, const contest& setting) {
    const command_counts now(redis);
    if (setting.primitive == "raw") return now.since(before, {"get", "del"});
    return now.since(before, {"get",   "set",  "del",       "time",    "pttl",          "pexpire",  "exists", "llen",
                              "lpush", "zadd", "zrem",      "zcard",   "zscore",        "zrange",   "hget",   "hmget",
                              "hset",  "hdel", "pexpireat", "hincrby", "zrangebyscore", "zrevrange"});
}

contest_result sum_up(const contest& setting, std::span<const score> scores) {
    contest_result found{.setting = setting};
    found.fewest = scores.front().in_time;
    std::uint64_t longest = 0;
    for (const auto& one : scores) {
        found.acquisitions += one.in_time;
        found.fewest = std::min(found.fewest, one.in_time);
        found.most = std::max(found.most, one.in_time);
        found.overlaps += one.overlaps;
        found.wait.merge(one.wait);
        longest = std::max(longest, one.longest_wait);
    }
    found.longest_wait_us = static_cast<double>(longest) / 1e3;
    return found;
}

}  // namespace

contest_result run_contest(const contest& setting, const target& redis, const contest_run& how) {
    const auto& where = redis.usual_route().where;
    arena ground{setting, where, fmt::format("{}contended", redis.prefix()),
                 shared_array<score>(static_cast<std::size_t>(setting.workers)), shared_array<std::atomic<int>>(1)};
    wire counter(where);
    std::optional<command_counts> before;
    crew_order order;
    order.length = std::chrono::duration<double>(how.seconds);
    order.where = how.workers;
    order.work = [&](int, baton& signs) { work_in_threads(ground, signs); };
    if (setting.kind == worker_kind::process) {
        order.size = setting.workers;
        order.work = [&](int index, baton& signs) { work_alone(ground, index, signs); };
    }
    order.tick = [&](double elapsed) {
        if (!before) before.emplace(counter);  // as the time begins
        if (how.tick) how.tick(elapsed);
    };
    const auto seconds = run_crew(order);
    auto found = sum_up(setting, ground.scores.all());
    found.seconds = seconds;
    const auto read = read_since(before.value_or(command_counts{}), counter, setting);
    if (const auto all = found.wait.count(); all > 0)
        found.commands_per_acquire = static_cast<double>(read) / static_cast<double>(all);
    clear_lock(counter, "lock:" + ground.name);
    clear_semaphore(counter, "semaphore:" + ground.name);
    return found;
}

}  // namespace tranca::bench
