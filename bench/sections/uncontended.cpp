// What an acquire and release costs when nobody else wants it: every rung against the same commands by hand.

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

constexpr double most = 1.10;  // of the hand-written cycle

struct outcome_of_duel {
    const rung* what;
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
              .where = where.redis.is_private() ? cores{where.machine.back()} : cores{},
              .tick = [&where](double elapsed) { where.told.tick(elapsed); }});
    wire redis(way.where);
    clear_rung(redis, key);
    return shared[0];
}

class uncontended_section final : public section {
public:
    std::string_view name() const override { return "uncontended"; }
    std::string_view summary() const override {
        return "acquire and release of every rung against hand-written hiredis";
    }

    void run(const stage& where, findings& found) override {
        where.redis.pin_server({where.machine.back()});
        std::vector<outcome_of_duel> all;
        for (const auto& way : where.redis.routes()) {
            for (const auto& what : ladder_rungs()) {
                if (interrupt::requested()) return;
                const auto seconds = where.seconds(1.5, 3, 10);
                where.told.begin(fmt::format("uncontended {} over {}", what.name, way.transport), seconds);
                where.redis.check_alive();
                all.push_back({&what, way.transport, fight(what, way, where, seconds)});
                record(all, where, found);
            }
        }
    }

private:
    static void record(const std::vector<outcome_of_duel>& all, const stage& where, findings& found) {
        const auto& [what, transport, figures] = all.back();
        found.rows.push_back({{"primitive", baseline_name(*what)},
                              {"transport", transport},
                              {"us", figures.baseline_us},
                              {"ratio", 1.0}});
        found.rows.push_back({{"primitive", what->name},
                              {"transport", transport},
                              {"us", figures.contender_us},
                              {"ratio", figures.ratio}});
        found.tables = {table_of(all, where)};
        found.claims = {claim_of(all)};
        found.plots = {plot_of(all)};
    }

    static table table_of(const std::vector<outcome_of_duel>& all, const stage& where) {
        table made{"Uncontended acquire and release",
                   {{"primitive", true, ""},
                    {"transport", true, ""},
                    {"by hand", false, ""},
                    {"tranca", false, ""},
                    {"ratio", false, ""}},
                   {},
                   {"by hand: the same commands and round trips in plain hiredis. ratio: median of the ratios of "
                    "neighbouring blocks of 20 cycles.",
                    where.redis.is_private() ? "Client and server share one core." : "Nothing is pinned."}};
        for (const auto& [what, transport, figures] : all) {
            made.rows.push_back({std::string(what->name), transport, time_text(figures.baseline_us),
                                 time_text(figures.contender_us), fmt::format("{:.3f}", figures.ratio)});
        }
        return made;
    }

    static claim claim_of(const std::vector<outcome_of_duel>& all) {
        const outcome_of_duel* worst = &all.front();
        for (const auto& one : all) {
            if (one.figures.ratio > worst->figures.ratio) worst = &one;
        }
        return {"an uncontended cycle of every rung costs at most 1.10 times the same by hand",
                worst->figures.ratio <= most,
                fmt::format("{:.3f} at worst ({} over {})", worst->figures.ratio, worst->what->name, worst->transport)};
    }

    static plot plot_of(const std::vector<outcome_of_duel>& all) {
        plot made{
            "What the library adds to an uncontended acquire and release",
            "Time as a multiple of the same commands by hand; further left is better. The line at 1.10 is the limit.",
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
