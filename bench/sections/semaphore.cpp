// What a semaphore's acquire and release costs against the number of those who hold it already.

#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tranca/client.hpp>

#include "measure/holders.hpp"
#include "measure/median.hpp"
#include "measure/rungs.hpp"
#include "process/crew.hpp"
#include "process/interrupt.hpp"
#include "process/shared_array.hpp"
#include "report/numbers.hpp"
#include "sections/section.hpp"

namespace tranca::bench {
namespace {

constexpr int crowds[] = {10, 1'000, 10'000, 100'000};

struct cost {
    std::string_view primitive;
    int holders;
    double us;
};

double median_cycle(const cycle& one, double seconds, const baton& signs) {
    static_cast<void>(time_block(one, 3));
    std::vector<double> taken;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    do {
        taken.push_back(time_block(one, 5));
    } while (std::chrono::steady_clock::now() < end && !signs.stopped());
    return median_of(std::move(taken));
}

double measure(const rung& what, int holders, const stage& where, double seconds) {
    const auto& way = where.redis.usual_route();
    const auto name = fmt::format("{}semaphore:{}:{}", where.redis.prefix(), what.name, holders);
    wire redis(way.where);
    if (what.name == semaphore_rung().name) seat_permit_holders(redis, "semaphore:" + name, holders);
    else seat_holders(redis, name, holders);
    shared_array<double> us(1);
    run_crew({.size = 1,
              .length = {},
              .work =
                  [&](int, baton& signs) {
                      const client library(way.where);
                      signs.arrive();
                      us[0] = median_cycle(what.by_library(library, name, holders + 1), seconds, signs);
                  },
              .where = where.redis.is_private() ? cores{where.machine.back()} : cores{},
              .tick = [&where](double elapsed) { where.told.tick(elapsed); }});
    clear_rung(redis, name);
    return us[0];
}

class semaphore_section final : public section {
public:
    std::string_view name() const override { return "semaphore"; }
    std::string_view summary() const override { return "acquire and release against 10 to 100,000 holders"; }

    void run(const stage& where, findings& found) override {
        where.redis.pin_server({where.machine.back()});
        std::vector<cost> all;
        run_one(semaphore_rung(), where, all, found);
        for (const auto& what : ladder_rungs())
            if (what.is_semaphore) run_one(what, where, all, found);
    }

private:
    static void run_one(const rung& what, const stage& where, std::vector<cost>& all, findings& found) {
        for (const int holders : crowds) {
            if (interrupt::requested()) return;
            const auto seconds = where.seconds(1, 2, 10);
            where.told.begin(fmt::format("{} with {} holders", what.name, holders), seconds);
            where.redis.check_alive();
            all.push_back({what.name, holders, measure(what, holders, where, seconds)});
            record(all, where, found);
        }
    }

    // Of tranca::semaphore, whose cells come first.
    static std::vector<claim> claims_of(const std::vector<cost>& all) {
        if (all.size() < std::size(crowds)) return {};
        constexpr double most = 1.5;
        const auto &few = all.front(), &many = all[std::size(crowds) - 1];
        return {{"with 100,000 holders a semaphore's cycle costs at most 1.5 times what it costs with 10",
                 many.us <= most * few.us,
                 fmt::format("{:.2f}: {} against {}", many.us / few.us, time_text(many.us), time_text(few.us))}};
    }

    static void record(const std::vector<cost>& all, const stage& where, findings& found) {
        const auto& last = all.back();
        found.rows.push_back({{"primitive", last.primitive}, {"holders", last.holders}, {"us", last.us}});
        found.tables = {table_of(all, where)};
        found.claims = claims_of(all);
        found.plots = {plot_of(all)};
    }

    static table table_of(const std::vector<cost>& all, const stage& where) {
        table made{"Semaphore: acquire and release against those who hold it", {{"primitive", true, ""}}, {}, {}};
        for (const int holders : crowds)
            made.columns.push_back({with_commas(static_cast<unsigned>(holders)) + " holders", false, ""});
        for (const auto& one : all) {
            if (made.rows.empty() || made.rows.back().front() != one.primitive)
                made.rows.push_back({std::string(one.primitive)});
            made.rows.back().push_back(time_text(one.us));
        }
        made.notes = {
            fmt::format("Medians over {}{}.", where.redis.usual_route().transport == "unix" ? "a Unix socket" : "TCP",
                        where.redis.is_private() ? ", client and server on one core" : ""),
            "The fair ones copy the whole order in each acquire (ZINTERSTORE): their cost grows with the holders."};
        return made;
    }

    static plot plot_of(const std::vector<cost>& all) {
        plot made{"Cost of a semaphore against its current holders",
                  "Lower and flatter is better; both axes are logarithmic.",
                  "acquire and release",
                  plot::form::lines,
                  true,
                  {"holders"},
                  {},
                  {},
                  ""};
        for (const auto& one : all) {
            if (made.data.empty() || made.data.back().name != one.primitive)
                made.data.push_back({std::string(one.primitive), {}, {}});
            made.data.back().x.push_back(one.holders);
            made.data.back().y.push_back(one.us / 1e6);
        }
        return made;
    }
};

const enlisted<semaphore_section> here{30};

}  // namespace
}  // namespace tranca::bench
