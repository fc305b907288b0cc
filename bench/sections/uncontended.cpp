// What an acquire and release costs when nobody else wants it: every rung against the same commands by hand, and the
// mutex against the shortest safe lock by hand.

#include <string>
#include <vector>

#include <fmt/format.h>

#include <tranca/client.hpp>

#include "measure/duel.hpp"
#include "measure/rungs.hpp"
#include "process/crew.hpp"
#include "process/interrupt.hpp"
#include "process/shared_array.hpp"
#include "report/numbers.hpp"
#include "sections/section.hpp"

namespace tranca::bench {
namespace {

constexpr double most = 1.10;  // of the hand-written cycle, for a rung

// What a primitive may cost over TCP, as a multiple of its shortest twin by hand.
struct cost_limit {
    std::string_view name;
    std::string_view what;
    double most;
};
constexpr cost_limit cost_limits[] = {{"mutex", "a mutex", 1.15},
                                      {"mutex unfenced", "a mutex without a fence", 1.05},
                                      {"mutex deferred", "a mutex that defers the answer to its release", 0.75},
                                      {"semaphore", "a semaphore", 1.2}};

struct outcome_of_duel {
    const rung* what;
    bool is_production;
    std::string transport;
    duel_result figures;
};

// The hand-written px_lock is the common baseline, called just "raw"; the other rungs' twins are variants of it.
std::string baseline_name(const rung& what) {
    return what.name == "px_lock" ? "raw" : fmt::format("raw {}", what.name);
}

duel_result fight(const rung& what, const route& way, const stage& where, double seconds) {
    const auto key = fmt::format("{}uncontended:{}", where.redis.prefix(), what.name);
    shared_array<duel_result> shared(1);
    run_crew({.size = 1,
              .length = {},
              .work =
                  [&](int, baton& signs) {
                      constexpr int limit = 5;
                      wire redis(way.where);
                      hand_written hand(redis);
                      const client library(way.where);
                      signs.arrive();
                      shared[0] =
                          duel(what.by_hand(hand, key, limit), what.by_library(library, key, limit), seconds, signs);
                  },
              .where = where.redis.is_private() ? cores{where.machine.front()} : cores{},
              .tick = [&where](double elapsed) { where.told.tick(elapsed); }});
    wire redis(way.where);
    clear_rung(redis, key);
    return shared[0];
}

class uncontended_section final : public section {
public:
    std::string_view name() const override { return "uncontended"; }
    std::string_view summary() const override {
        return "acquire and release of the mutex and every rung against hand-written hiredis";
    }

    void run(const stage& where, findings& found) override {
        where.redis.pin_server({where.machine.back()});
        std::vector<outcome_of_duel> all;
        for (const auto& way : where.redis.routes()) {
            for (const auto& what : ladder_rungs())
                measure({&what, false, way.transport, {}}, way, where, all, found);
            for (const auto& what : mutex_rungs())
                measure({&what, true, way.transport, {}}, way, where, all, found);
            measure({&semaphore_rung(), true, way.transport, {}}, way, where, all, found);
            for (const auto& what : shared_rungs())
                measure({&what, true, way.transport, {}}, way, where, all, found);
        }
    }

private:
    static void measure(outcome_of_duel one, const route& way, const stage& where, std::vector<outcome_of_duel>& all,
                        findings& found) {
        if (interrupt::requested()) return;
        const auto seconds = where.seconds(1.5, 3, 10);
        where.told.begin(fmt::format("uncontended {} over {}", one.what->name, way.transport), seconds);
        where.redis.check_alive();
        one.figures = fight(*one.what, way, where, seconds);
        all.push_back(std::move(one));
        record(all, where, found);
    }

    static void record(const std::vector<outcome_of_duel>& all, const stage& where, findings& found) {
        const auto& last = all.back();
        // Their baselines are told in their own rows: the mutex shares that of px_lock.
        if (!last.is_production)
            found.rows.push_back(row(baseline_name(*last.what), last, last.figures.baseline_us, 1.0));
        found.rows.push_back(row(std::string(last.what->name), last, last.figures.contender_us, last.figures.ratio));
        found.tables = {table_of(all, where)};
        found.claims = claims_of(all);
        found.plots = {plot_of(all)};
    }

    static nlohmann::json row(const std::string& name, const outcome_of_duel& one, double us, double ratio) {
        return {{"primitive", name}, {"transport", one.transport}, {"us", us}, {"ratio", ratio}};
    }

    // As on two machines, where there are two cores.
    static std::string core_text(const cores& machine) {
        return machine.size() > 1 ? "Client and server have a core each." : "Client and server share one core.";
    }

    static table table_of(const std::vector<outcome_of_duel>& all, const stage& where) {
        table made{"Uncontended acquire and release",
                   {{"primitive", true, ""},
                    {"transport", true, ""},
                    {"by hand", false, ""},
                    {"tranca", false, ""},
                    {"ratio", false, ""}},
                   {},
                   {"by hand: the same commands and round trips in plain hiredis; for a mutex SET NX PX and the script "
                    "that compares and deletes, for the semaphore a script that expires, counts and inserts, and ZREM, "
                    "for two names at once twice what a mutex has. "
                    "ratio: median of the ratios of neighbouring blocks of 20 cycles.",
                    where.redis.is_private() ? core_text(where.machine) : "Nothing is pinned."}};
        for (const auto& [what, is_production, transport, figures] : all) {
            made.rows.push_back({std::string(what->name), transport, time_text(figures.baseline_us),
                                 time_text(figures.contender_us), fmt::format("{:.3f}", figures.ratio)});
        }
        return made;
    }

    static std::vector<claim> claims_of(const std::vector<outcome_of_duel>& all) {
        std::vector<claim> claims{claim_of_rungs(all)};
        for (const auto& limit : cost_limits) {
            for (const auto& one : all) {
                if (one.transport != "tcp" || one.what->name != limit.name) continue;
                claims.push_back(
                    {fmt::format("an uncontended cycle of {} costs at most {:.2f} times the raw "
                                 "two-command cycle over TCP",
                                 limit.what, limit.most),
                     one.figures.ratio <= limit.most,
                     fmt::format("{:.3f}: {} against {}", one.figures.ratio, time_text(one.figures.contender_us),
                                 time_text(one.figures.baseline_us))});
            }
        }
        return claims;
    }

    static claim claim_of_rungs(const std::vector<outcome_of_duel>& all) {
        const outcome_of_duel* worst = &all.front();  // a rung: they come first
        for (const auto& one : all) {
            if (!one.is_production && one.figures.ratio > worst->figures.ratio) worst = &one;
        }
        return {"an uncontended cycle of every rung costs at most 1.10 times the same by hand",
                worst->figures.ratio <= most,
                fmt::format("{:.3f} at worst ({} over {})", worst->figures.ratio, worst->what->name, worst->transport)};
    }

    static plot plot_of(const std::vector<outcome_of_duel>& all) {
        plot made{
            "What the library adds to an uncontended acquire and release",
            "Time as a multiple of the same by hand; further left is better. The line at 1.10 is the limit of a rung.",
            "tranca / hand-written hiredis",
            plot::form::dots,
            false,
            {},
            {},
            {1.0, most},
            ""};
        for (const auto& one : all) {
            if (made.data.empty() || made.data.back().name != one.transport)
                made.data.push_back({one.transport, {}, {}});
            if (made.data.size() == 1) made.labels.emplace_back(one.what->name);
            made.data.back().y.push_back(one.figures.ratio);
        }
        return made;
    }
};

const enlisted<uncontended_section> here{20};

}  // namespace
}  // namespace tranca::bench
