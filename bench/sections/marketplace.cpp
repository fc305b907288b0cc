// The book's marketplace: tables 6.1 to 6.3 on this machine, and the whole trade as a script beside them.

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "market/cell.hpp"
#include "market/market_claims.hpp"
#include "market/market_plots.hpp"
#include "market/market_table.hpp"
#include "process/interrupt.hpp"
#include "sections/section.hpp"

namespace tranca::bench {
namespace {

class marketplace_section final : public section {
public:
    std::string_view name() const override { return "marketplace"; }
    std::string_view summary() const override { return "the book's tables 6.1 to 6.3: sellers and buyers, four modes"; }

    void add_options(CLI::App& app) override {
        constexpr int most = 256;
        const auto option = [&app](const char* flag, auto& value, const char* type, const char* help) {
            return app.add_option(flag, value, help)->type_name(type)->group("Marketplace");
        };
        option("--seconds", seconds_, "S", "seconds a cell (default: 5; --quick: 3; --full: 60, as in the book)")
            ->check(CLI::Range(0.1, 86'400.0));
        auto* listers = option("--listers", listers_, "L", "one cell with so many listers, not the book's three")
                            ->check(CLI::Range(1, most));
        auto* buyers = option("--buyers", buyers_, "B", "and so many buyers")->check(CLI::Range(1, most));
        listers->needs(buyers);
        buyers->needs(listers);
        std::vector<std::string> names;
        for (const mode how : all_modes)
            names.emplace_back(name_of(how));
        option("--modes", modes_, "MODE,...", "of watch, lock, fine, script (default: all)")
            ->delimiter(',')
            ->check(CLI::IsMember(names));
    }

    void run(const stage& where, findings& found) override {
        place_server(where);
        results measured;
        for (const auto& setting : cells()) {
            if (interrupt::requested()) break;
            measured.push_back(run_one(setting, where));
            record(measured, where, found);
        }
    }

private:
    [[nodiscard]] std::vector<cell> cells() const {
        std::vector<cell> all;
        std::vector<cell_size> sizes{{1, 1}, {5, 1}, {5, 5}};
        if (listers_ > 0) sizes = {{listers_, buyers_}};
        for (const auto& [listers, buyers] : sizes) {
            for (const mode how : all_modes) {
                if (is_wanted(how)) all.push_back({listers, buyers, how});
            }
        }
        return all;
    }

    [[nodiscard]] bool is_wanted(mode how) const {
        return modes_.empty() || std::find(modes_.begin(), modes_.end(), name_of(how)) != modes_.end();
    }

    [[nodiscard]] cell_result run_one(const cell& setting, const stage& where) const {
        const auto seconds = seconds_ > 0 ? seconds_ : where.seconds(3, 5, 60);
        where.told.begin(fmt::format("marketplace {}/{} {}", setting.listers, setting.buyers, name_of(setting.how)),
                         seconds);
        where.redis.check_alive();
        return run_cell(setting, where.redis,
                        {.seconds = seconds, .workers = worker_cores(where), .tick = [&where](double elapsed) {
                             where.told.tick(elapsed);
                         }});
    }

    static void record(const results& measured, const stage& where, findings& found) {
        const auto& last = measured.back();
        found.rows.push_back(market_row(last));
        found.tables = {market_table(measured)};
        found.tables.front().notes = notes(where);
        found.claims = market_claims(measured);
        found.plots = market_plots(measured);
        for (const auto& violation : last.violations) {
            found.failures.push_back(
                fmt::format("{} {}: {}", name_of(size_of(last)), name_of(last.setting.how), violation));
        }
    }

    // A Redis is usually alone on its machine: the private server gets a core of its own, the workers share the others.
    static void place_server(const stage& where) { where.redis.pin_server({where.machine.back()}); }

    static cores worker_cores(const stage& where) {
        if (!where.redis.is_private() || where.machine.size() < 2) return {};
        return {where.machine.begin(), where.machine.end() - 1};
    }

    static std::vector<std::string> notes(const stage& where) {
        return {
            fmt::format(
                "Each worker is a process with its own connection over {}, beside it the library's for its locks; {}.",
                where.redis.usual_route().transport == "unix" ? "a Unix socket" : "TCP",
                where.redis.is_private() ? "the server has a core of its own, the workers share the others"
                                         : "nothing is pinned"),
            "The market opens with 1,000 items and is not bounded: sellers never wait for buyers. Buyers pick a "
            "random item.",
            "mean wait, p50, p99: from wanting an item to owning one. retries: WATCH failed, or no lock within 10 s. "
            "x lock: bought, as a multiple of mode lock.",
            "Money, items and counters were checked after every cell."};
    }

    double seconds_ = 0;
    int listers_ = 0;
    int buyers_ = 0;
    std::vector<std::string> modes_;
};

const enlisted<marketplace_section> here{10};

}  // namespace
}  // namespace tranca::bench
