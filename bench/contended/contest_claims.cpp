#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "contended/contest_figures.hpp"
#include "contended/contest_report.hpp"

namespace tranca::bench {
namespace {

std::string size_of(const contest& setting) {
    return fmt::format("{} {}", setting.workers, setting.kind == worker_kind::process ? "processes" : "threads");
}

// Of what begins and ends like that, the cell with the largest figure.
const contest_result* worst(const contests& measured, std::string_view beginning, std::string_view ending,
                            double (*figure)(const contest_result&)) {
    const contest_result* found = nullptr;
    for (const auto& one : measured) {
        const std::string_view name = one.setting.primitive;
        if (!name.starts_with(beginning) || !name.ends_with(ending)) continue;
        if (found == nullptr || figure(one) > figure(*found)) found = &one;
    }
    return found;
}

double commands(const contest_result& one) { return one.commands_per_acquire; }

claim few_commands_of_semaphore(const contest_result& one) {
    constexpr double most = 5;
    return {"a contended semaphore costs the server at most 5 commands an acquisition",
            commands(one) > 0 && commands(one) <= most,
            fmt::format("{:.2f} at worst ({} by {})", commands(one), one.setting.primitive, size_of(one.setting))};
}

claim fair_in_line(const contest_result& one) {
    constexpr double most = 1.2;
    return {"of those who wait in line nobody is served more than 1.2 times as often as anybody else",
            fairness(one) <= most,
            fmt::format("{:.2f} at worst ({}, {}: {} to {})", fairness(one), one.setting.primitive,
                        size_of(one.setting), one.most, one.fewest)};
}

claim few_commands(const contest_result& one) {
    constexpr double most = 4;
    return {"a contended mutex costs the server at most 4 commands an acquisition, however many want it",
            one.commands_per_acquire > 0 && one.commands_per_acquire <= most,
            fmt::format("{:.4f} at worst ({})", one.commands_per_acquire, size_of(one.setting))};
}

claim fair(const contest_result& one) {
    constexpr double most = 1.5;
    return {"of those who want a mutex nobody gets it more than 1.5 times as often as anybody else",
            fairness(one) <= most,
            fmt::format("{:.2f} at worst ({}: {} to {})", fairness(one), size_of(one.setting), one.most, one.fewest)};
}

struct lead {
    int workers;
    double times;
};

// How many times the raw lock's rate threads with a mutex reach, where both were measured.
std::vector<lead> leads_of_threads(const contests& measured) {
    std::vector<lead> leads;
    for (const auto& one : measured) {
        if (one.setting.primitive != "mutex" || one.setting.kind != worker_kind::thread) continue;
        if (const auto* raw = raw_beside(measured, one.setting))
            leads.push_back({one.setting.workers, rate(one) / rate(*raw)});
    }
    return leads;
}

void add_lead_claims(const contests& measured, std::vector<claim>& claims) {
    constexpr int from = 4, at = 64;
    constexpr double least = 5, least_at = 20;
    std::optional<lead> smallest, of_many;
    for (const auto& one : leads_of_threads(measured)) {
        if (one.workers >= from && (!smallest || one.times < smallest->times)) smallest = one;
        if (one.workers == at) of_many = one;
    }
    if (smallest)
        claims.push_back({"from 4 threads on a mutex is acquired at least 5 times as often as the raw polling lock",
                          smallest->times >= least,
                          fmt::format("{:.1f} times at worst (with {})", smallest->times, smallest->workers)});
    if (of_many)
        claims.push_back({"with 64 threads a mutex is acquired at least 20 times as often as the raw polling lock",
                          of_many->times >= least_at, fmt::format("{:.1f} times", of_many->times)});
}

}  // namespace

std::vector<claim> contest_claims(const contests& measured) {
    std::vector<claim> claims;
    if (const auto* one = worst(measured, "mutex", "mutex", commands)) claims.push_back(few_commands(*one));
    if (const auto* one = worst(measured, "mutex", "mutex", fairness)) claims.push_back(fair(*one));
    add_lead_claims(measured, claims);
    if (const auto* one = worst(measured, "semaphore", "", commands)) claims.push_back(few_commands_of_semaphore(*one));
    if (const auto* one = worst(measured, "", " in line", fairness)) claims.push_back(fair_in_line(*one));
    return claims;
}

}  // namespace tranca::bench
