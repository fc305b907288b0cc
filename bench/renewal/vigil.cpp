#include "renewal/vigil.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <tranca/counters.hpp>
#include <tranca/mutex.hpp>

#include "measure/rungs.hpp"
#include "process/crew.hpp"
#include "process/shared_array.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto sample_every = 20ms;

std::string name_of(const std::string& prefix, int number) { return fmt::format("{}renewal:{}", prefix, number); }

int thread_count() {
    const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
    return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// The process's connections have a name of their own.
int connection_count(const endpoint& where) {
    wire redis(where);
    const auto list = redis.ask("CLIENT", "LIST");
    const auto wanted = fmt::format(" name={} ", where.client_name);
    int count = 0;
    for (auto at = list.text().find(wanted); at != std::string_view::npos; at = list.text().find(wanted, at + 1))
        ++count;
    return count;
}

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double least_left_ms(const std::vector<guard>& held) {
    auto first = clock::time_point::max();
    for (const auto& each : held)
        first = std::min(first, each.safe_until());
    return std::chrono::duration<double, std::milli>(first - clock::now()).count();
}

std::vector<guard> acquire_all(const client& redis, const vigil& setting, const std::string& prefix) {
    std::vector<guard> held;
    held.reserve(static_cast<std::size_t>(setting.guards));
    for (int i = 0; i < setting.guards; ++i)
        held.push_back(mutex(redis, name_of(prefix, i), {.lease = {.ttl = setting.ttl}}).acquire());
    return held;
}

void watch(const std::vector<guard>& held, vigil_result& found, const endpoint& where, const baton& signs) {
    const auto begin = clock::now();
    const auto used = processor_seconds();
    while (clock::now() - begin < length_of(found.setting) && !signs.stopped()) {
        std::this_thread::sleep_for(sample_every);
        found.least_left_ms = std::min(found.least_left_ms, least_left_ms(held));
    }
    const std::chrono::duration<double> taken = clock::now() - begin;
    found.seconds = taken.count();
    found.processor_share = (processor_seconds() - used) / found.seconds;
    found.threads = thread_count();
    found.connections = connection_count(where);
}

void keep_vigil(const endpoint& where, const std::string& prefix, vigil_result& found, baton& signs) {
    const auto numbers = std::make_shared<counters>();
    client_options options;
    options.sink = numbers;
    const client redis(where, options);
    signs.arrive();
    auto held = acquire_all(redis, found.setting, prefix);
    const auto renewed_before = numbers->count(event::kind::renewed);
    watch(held, found, where, signs);
    found.renewals = numbers->count(event::kind::renewed) - renewed_before;
    for (auto& each : held) {
        if (!each) ++found.missed;
    }
    for (auto& each : held) {
        if (each.release() != release_result::released) ++found.lost;
    }
    found.lost = std::max(found.lost, numbers->count(event::kind::lease_lost));
}

}  // namespace

vigil_result run_vigil(const vigil& setting, const target& redis, const vigil_run& how) {
    auto where = redis.usual_route().where;
    where.client_name = fmt::format("{}renewal", redis.is_private() ? "" : redis.prefix());
    shared_array<vigil_result> found(1);
    found[0].setting = setting;
    found[0].least_left_ms = static_cast<double>(setting.ttl.count());
    run_crew({.size = 1,
              .length = {},
              .work = [&](int, baton& signs) { keep_vigil(where, redis.prefix(), found[0], signs); },
              .where = how.workers,
              .tick = how.tick});
    wire cleaner(redis.usual_route().where);
    for (int i = 0; i < setting.guards; ++i)
        clear_lock(cleaner, "lock:" + name_of(redis.prefix(), i));
    return found[0];
}

}  // namespace tranca::bench
