#include "handoff/handoff_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace tranca::bench {
namespace {

const handoff_result* find(const std::vector<handoff_result>& measured, std::string_view primitive, bool delayed) {
    const auto at = std::find_if(measured.begin(), measured.end(), [&](const handoff_result& one) {
        return one.primitive == primitive && (one.delay_us > 0) == delayed;
    });
    return at == measured.end() || at->count == 0 ? nullptr : &*at;
}

std::string route_of(const handoff_result& one) {
    if (one.delay_us == 0) return one.transport;
    return fmt::format("{} + {}", one.transport, time_text(one.delay_us));
}

claim near_claim(const handoff_result& mutex, const handoff_result& trip) {
    constexpr double most = 2.5;
    const auto trips = mutex.p50_us / trip.p50_us;
    return {"a mutex is handed over within 2.5 raw round trips (median)", trips <= most,
            fmt::format("{:.2f}: {} against {}", trips, time_text(mutex.p50_us), time_text(trip.p50_us))};
}

claim slowest_claim(const handoff_result& mutex) {
    constexpr double most_us = 1'000;
    return {"99 of 100 hand-overs of a mutex take less than 1 ms", mutex.p99_us < most_us,
            fmt::format("{} of {}", time_text(mutex.p99_us), with_commas(static_cast<std::uint64_t>(mutex.count)))};
}

// There and back is what the network adds and what the loopback takes: what the proxy needs beyond its delay does not
// make a hand-over look better.
claim far_claim(const handoff_result& mutex, const handoff_result& loopback) {
    constexpr double most = 1.5;
    const auto there_and_back = mutex.delay_us + loopback.p50_us;
    const auto times = mutex.p50_us / there_and_back;
    return {fmt::format("with {} of network a mutex is handed over within 1.5 times the way there and back (median)",
                        time_text(mutex.delay_us)),
            times <= most,
            fmt::format("{:.2f}: {} against {}", times, time_text(mutex.p50_us), time_text(there_and_back))};
}

}  // namespace

nlohmann::json handoff_row(const handoff_result& measured) {
    return {{"primitive", measured.primitive}, {"transport", measured.transport}, {"delay_us", measured.delay_us},
            {"count", measured.count},         {"p50_us", measured.p50_us},       {"p99_us", measured.p99_us}};
}

table handoff_table(const std::vector<handoff_result>& measured) {
    table made{"Hand-over: from just before release() to the next holder's guard",
               {{"primitive", true, ""},
                {"route", true, ""},
                {"count", false, ""},
                {"p50", false, ""},
                {"p99", false, ""},
                {"round trips", false, ""}},
               {},
               {}};
    const handoff_result* before = nullptr;
    for (const auto& one : measured) {
        if (before != nullptr && before->delay_us != one.delay_us) made.rows.emplace_back();
        const auto* trip = find(measured, "raw", one.delay_us > 0);
        made.rows.push_back({one.primitive == "raw" ? "raw (a PING)" : one.primitive, route_of(one),
                             with_commas(static_cast<std::uint64_t>(one.count)), time_text(one.p50_us),
                             time_text(one.p99_us),
                             trip == nullptr ? "-" : fmt::format("{:.2f}", one.p50_us / trip->p50_us)});
        before = &one;
    }
    return made;
}

plot handoff_plot(const std::vector<handoff_result>& measured) {
    plot made{
        "From release to the next holder",
        "Further left is better. raw is a bare round trip on the same route: a hand-over that needs one trip lies "
        "near it. px_lock polls every millisecond.",
        "time",
        plot::form::dots,
        true,
        {},
        {{"median", {}, {}}, {"99th percentile", {}, {}}},
        {},
        ""};
    for (const auto& one : measured) {
        made.labels.push_back(fmt::format("{} {}", one.primitive, route_of(one)));
        made.data[0].y.push_back(one.p50_us / 1e6);
        made.data[1].y.push_back(one.p99_us / 1e6);
    }
    return made;
}

std::vector<claim> handoff_claims(const std::vector<handoff_result>& measured) {
    const auto* trip = find(measured, "raw", false);
    const auto* near = find(measured, "mutex", false);
    const auto* far = find(measured, "mutex", true);
    std::vector<claim> claims;
    if (near != nullptr && trip != nullptr) claims.push_back(near_claim(*near, *trip));
    if (near != nullptr) claims.push_back(slowest_claim(*near));
    if (far != nullptr && trip != nullptr) claims.push_back(far_claim(*far, *trip));
    return claims;
}

}  // namespace tranca::bench
