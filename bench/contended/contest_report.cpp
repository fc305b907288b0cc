#include "contended/contest_report.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "contended/contest_figures.hpp"
#include "report/numbers.hpp"

namespace tranca::bench {
namespace {

std::string full_name(const contest& setting) {
    return fmt::format("{}, {}", setting.primitive,
                       setting.kind == worker_kind::process ? "processes" : "threads of one process");
}

// By primitive and kind, each by its size.
contests in_groups(contests measured) {
    std::stable_sort(measured.begin(), measured.end(), [](const contest_result& one, const contest_result& other) {
        return full_name(one.setting) < full_name(other.setting);
    });
    return measured;
}

plot lines_of(const contests& measured, plot made, double (*seconds)(const contest_result&)) {
    for (const auto& one : in_groups(measured)) {
        const auto name = full_name(one.setting);
        if (made.data.empty() || made.data.back().name != name) made.data.push_back({name, {}, {}});
        if (one.acquisitions == 0) continue;
        made.data.back().x.push_back(one.setting.workers);
        made.data.back().y.push_back(seconds(one));
    }
    return made;
}

}  // namespace

nlohmann::json contest_row(const contest_result& measured) {
    const auto ratio = fairness(measured);
    return {{"primitive", measured.setting.primitive},
            {"workers", measured.setting.workers},
            {"kind", name_of(measured.setting.kind)},
            {"acquisitions_per_s", rate(measured)},
            {"commands_per_acquire", measured.commands_per_acquire},
            {"wait_us_p50", measured.wait.quantile(0.5) / 1e3},
            {"wait_us_p99", measured.wait.quantile(0.99) / 1e3},
            {"wait_us_max", measured.longest_wait_us},
            {"fairness", measured.fewest == 0 ? nlohmann::json() : nlohmann::json(ratio)}};
}

table contest_table(const contests& measured) {
    const std::string wait = "wait";
    table made{fmt::format("One contended lock, {:.3g} s a cell", measured.empty() ? 0.0 : measured.front().seconds),
               {{"primitive", true, ""},
                {"workers", false, ""},
                {"acquired/s", false, ""},
                {"x raw", false, ""},
                {"commands", false, ""},
                {"p50", false, wait},
                {"p99", false, wait},
                {"max", false, wait},
                {"most/least", false, ""}},
               {},
               {}};
    const contest_result* before = nullptr;
    const auto sorted = in_groups(measured);
    for (const auto& one : sorted) {
        if (before != nullptr && full_name(before->setting) != full_name(one.setting)) made.rows.emplace_back();
        const auto* raw = raw_beside(measured, one.setting);
        made.rows.push_back({full_name(one.setting), std::to_string(one.setting.workers),
                             with_commas(static_cast<std::uint64_t>(rate(one))),
                             raw == nullptr ? "-" : fmt::format("{:.1f}", rate(one) / rate(*raw)),
                             fmt::format("{:.2f}", one.commands_per_acquire), time_text(one.wait.quantile(0.5) / 1e3),
                             time_text(one.wait.quantile(0.99) / 1e3), time_text(one.longest_wait_us),
                             fmt::format("{:.2f}", fairness(one))});
        before = &one;
    }
    return made;
}

std::vector<plot> contest_plots(const contests& measured) {
    const std::string side_by_side = "contended";
    return {lines_of(measured,
                     {"Time from one grant to the next",
                      "Lower and flatter is better; both axes are logarithmic.",
                      "time an acquisition",
                      plot::form::lines,
                      true,
                      {"workers"},
                      {},
                      {},
                      side_by_side},
                     [](const contest_result& one) { return 1 / rate(one); }),
            lines_of(measured,
                     {"Wait of the unluckiest hundredth",
                      "Lower is better; both axes are logarithmic.",
                      "99th percentile of the wait",
                      plot::form::lines,
                      true,
                      {"workers"},
                      {},
                      {},
                      side_by_side},
                     [](const contest_result& one) { return one.wait.quantile(0.99) / 1e9; })};
}

}  // namespace tranca::bench
