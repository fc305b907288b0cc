// How long a lock takes from one process to the next, against a bare round trip: on the loopback and over a millisecond
// of network.

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tranca/ladder/px_lock.hpp>
#include <tranca/mutex.hpp>

#include "handoff/handoff.hpp"
#include "handoff/handoff_report.hpp"
#include "measure/rungs.hpp"
#include "process/interrupt.hpp"
#include "sections/section.hpp"
#include "server/delaying_proxy.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto added = 1000us;  // there and back together

struct contender_for_handoff {
    std::string name;
    lock_maker make;  // none: a bare round trip
};

template <class Lock>
lock_maker maker_of() {
    return [](const client& redis, const std::string& name) -> acquiring {
        return [lock = Lock(redis, name)] { return lock.acquire(); };
    };
}

std::vector<contender_for_handoff> contenders() {
    return {{"raw", {}}, {"px_lock", maker_of<ladder::px_lock>()}, {"mutex", maker_of<mutex>()}};
}

// The loopback where there is a choice: it is the network's protocol that is of interest here.
const route& route_of(const target& redis) { return redis.routes().back(); }

class handoff_section final : public section {
public:
    std::string_view name() const override { return "handoff"; }
    std::string_view summary() const override { return "from one process's release to the next one's guard"; }

    void run(const stage& where, findings& found) override {
        where.redis.pin_server({where.machine.back()});
        std::vector<handoff_result> all;
        const auto& way = route_of(where.redis);
        measure(way.where, {"", way.transport, 0}, where, all, found);
        const delaying_proxy network(way.where, added / 2);
        measure(network.where(), {"", "tcp", static_cast<int>(added.count())}, where, all, found);
    }

private:
    static void measure(const endpoint& server, handoff_result result, const stage& where,
                        std::vector<handoff_result>& all, findings& found) {
        for (const auto& what : contenders()) {
            if (interrupt::requested()) return;
            where.redis.check_alive();
            const auto taken = run_one(what, server, result, where);
            result.primitive = what.name;
            result.count = static_cast<int>(taken.count());
            result.p50_us = taken.quantile(0.5) / 1e3;
            result.p99_us = taken.quantile(0.99) / 1e3;
            all.push_back(result);
            record(all, where, found);
        }
    }

    static histogram run_one(const contender_for_handoff& what, const endpoint& server, const handoff_result& result,
                             const stage& where) {
        const handoff_order order{.where = server,
                                  .name = fmt::format("{}handoff:{}", where.redis.prefix(), what.name),
                                  .make = what.make,
                                  .seconds = where.seconds(2.5, 10, 30),
                                  .workers = where.redis.is_private() ? cores{where.machine.back()} : cores{},
                                  .tick = [&where](double elapsed) { where.told.tick(elapsed); }};
        where.told.begin(fmt::format("hand-over of {} with {} us of network", what.name, result.delay_us),
                         order.seconds);
        if (!what.make) return measure_round_trip(order);
        const auto taken = measure_handoff(order);
        wire redis(route_of(where.redis).where);
        clear_lock(redis, "lock:" + order.name);
        return taken;
    }

    static void record(const std::vector<handoff_result>& all, const stage& where, findings& found) {
        found.rows.push_back(handoff_row(all.back()));
        found.tables = {handoff_table(all)};
        found.tables.front().notes = {
            "One process holds for 20 ms while another one waits. raw is one PING on a bare connection that rested for "
            "20 ms, as both had.",
            fmt::format("+ 1.00 ms: through a proxy that adds {} us in each direction, so that there and back takes "
                        "1 ms more than on the loopback.",
                        (added / 2).count()),
            where.redis.is_private() ? "Both processes and the server share one core; the proxy runs anywhere."
                                     : "Nothing is pinned."};
        found.claims = handoff_claims(all);
        found.plots = {handoff_plot(all)};
    }
};

const enlisted<handoff_section> here{40};

}  // namespace
}  // namespace tranca::bench
