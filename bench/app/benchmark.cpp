#include "app/benchmark.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>

#include <fmt/format.h>

#include <tranca/error.hpp>

#include "process/interrupt.hpp"
#include "report/html_report.hpp"
#include "report/json_report.hpp"
#include "report/run_facts.hpp"
#include "report/text_report.hpp"
#include "server/target.hpp"

namespace tranca::bench {
namespace {

std::string name_of(pace speed) { return speed == pace::quick ? "quick" : speed == pace::full ? "full" : "usual"; }

void print(const findings& section) {
    for (const auto& one : section.tables)
        fmt::print("\n{}", as_text(one));
    std::fflush(stdout);
}

// Keeps what the section found before it failed.
void run_section(section& part, const stage& where, findings& found) {
    found.name = part.name();
    try {
        part.run(where, found);
    } catch (const std::exception& failure) {
        found.failures.emplace_back(failure.what());
    }
    where.told.clear();
    print(found);
}

bool failed(const std::vector<findings>& all) {
    for (const auto& section : all) {
        if (!section.failures.empty()) return true;
    }
    return false;
}

void print_end(const run_facts& facts, const std::vector<findings>& all) {
    fmt::print("\n");
    for (const auto& section : all) {
        for (const auto& one : section.claims)
            fmt::print("{}", as_text(one));
    }
    for (const auto& section : all) {
        for (const auto& one : section.failures)
            fmt::print("FAILED  {}: {}\n", section.name, one);
    }
    if (facts.interrupted) fmt::print("Interrupted: the above is what was measured until then.\n");
}

void write_files(const options& wanted, const run_facts& facts, const std::vector<findings>& all) {
    const auto write = [](const std::string& file, const std::string& text) {
        if (!(std::ofstream(file, std::ios::trunc) << text)) fmt::print(stderr, "could not write {}\n", file);
    };
    if (!wanted.json.empty()) write(wanted.json, as_json(facts, all).dump(2) + "\n");
    if (!wanted.html.empty()) write(wanted.html, as_html(facts, all));
}

std::vector<findings> run_sections(const options& wanted, const target& redis) {
    progress told;
    const stage where{redis, usable_cores(), wanted.speed, told};
    std::vector<findings> all;
    for (const auto& part : wanted.sections) {
        if (interrupt::requested() || failed(all)) break;
        run_section(*part, where, all.emplace_back());
    }
    return all;
}

}  // namespace

int run_benchmark(const options& wanted) {
    interrupt::install();
    auto facts = gather_facts();
    const auto redis = target::choose();
    facts.redis = redis.description();
    facts.pace = name_of(wanted.speed);
    fmt::print("tranca {}; {}; {}; load before the run {:.1f}\n", facts.version, facts.redis, facts.processor,
               facts.load);
    if (facts.load > 1)
        fmt::print("The machine is busy with other work: the figures will be worse than they should be.\n");
    std::fflush(stdout);

    const auto all = run_sections(wanted, redis);
    facts.interrupted = interrupt::requested();
    print_end(facts, all);
    write_files(wanted, facts, all);
    if (failed(all)) return 1;
    return facts.interrupted ? 128 + interrupt::signal_number() : 0;
}

}  // namespace tranca::bench
