// One lock that everybody wants: how often it is granted, what that costs the server, and how evenly it is shared.

#include <vector>

#include <fmt/format.h>

#include "contended/contest.hpp"
#include "contended/contest_report.hpp"
#include "contended/player.hpp"
#include "process/interrupt.hpp"
#include "sections/section.hpp"

namespace tranca::bench {
namespace {

class contended_section final : public section {
public:
    std::string_view name() const override { return "contended"; }
    std::string_view summary() const override {
        return "one lock or semaphore and 2 to 256 processes or threads that want it";
    }

    void run(const stage& where, findings& found) override {
        where.redis.pin_server({where.machine.back()});
        std::vector<contest_result> all;
        for (const auto& setting : contests(where)) {
            if (interrupt::requested()) return;
            all.push_back(run_one(setting, where));
            record(all, where, found);
        }
    }

private:
    // Those that are compared run one after the other: what else the machine does meanwhile hits both.
    static std::vector<contest> contests(const stage& where) {
        std::vector<contest> all;
        for (const int workers : {2, 4, 16, 64, 256}) {
            all.push_back({"raw", workers, worker_kind::thread});
            all.push_back({"mutex", workers, worker_kind::thread});
            // It takes seconds to start so many processes.
            const bool slow = workers > 64;
            if (!slow || where.speed != pace::quick) all.push_back({"mutex", workers, worker_kind::process});
        }
        for (const auto* primitive : {"mutex in line", "semaphore", "semaphore in line"})
            all.push_back({primitive, 64, worker_kind::process});
        return all;
    }

    static contest_result run_one(const contest& setting, const stage& where) {
        // Many take their turns more slowly, and fairness is a matter of many turns.
        const auto seconds = where.seconds(0.6, 2, 10) * (setting.workers > 64 ? 3 : 1);
        where.told.begin(
            fmt::format("contended {}, {} of kind {}", setting.primitive, setting.workers, name_of(setting.kind)),
            seconds);
        where.redis.check_alive();
        return run_contest(setting, where.redis,
                           {.seconds = seconds,
                            .workers = where.redis.is_private() ? cores{where.machine.back()} : cores{},
                            .tick = [&where](double elapsed) { where.told.tick(elapsed); }});
    }

    static void record(const std::vector<contest_result>& all, const stage& where, findings& found) {
        const auto& last = all.back();
        found.rows.push_back(contest_row(last));
        found.tables = {contest_table(all)};
        found.tables.front().notes = notes(where);
        found.claims = contest_claims(all);
        found.plots = contest_plots(all);
        if (last.overlaps > 0) {
            found.failures.push_back(fmt::format("{} with {} of kind {}: {} acquisitions while somebody held it",
                                                 last.setting.primitive, last.setting.workers,
                                                 name_of(last.setting.kind), last.overlaps));
        }
    }

    static std::vector<std::string> notes(const stage& where) {
        return {
            fmt::format("Nobody does anything but acquire and release, over {}; {}. A process has a client of its "
                        "own, the threads of one process share one.",
                        where.redis.usual_route().transport == "unix" ? "a Unix socket" : "TCP",
                        where.redis.is_private() ? "all and the server share one core" : "nothing is pinned"),
            "raw: hand-written SET NX PX, again every millisecond until it is granted, on a connection for each "
            "thread. x raw: acquired a second, as a multiple of raw with as many threads.",
            fmt::format("semaphore: limit {}. in line: with fairness, first come, first served.", contested_permits),
            fmt::format("commands: read by the server for each acquisition{}. most/least: acquisitions of a worker.",
                        where.redis.is_private() ? "" : " (with those of its other clients)")};
    }
};

const enlisted<contended_section> here{50};

}  // namespace
}  // namespace tranca::bench
