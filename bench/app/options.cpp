#include "app/options.hpp"

#include <algorithm>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tranca::bench {
namespace {

constexpr int bad_usage = 2;

constexpr const char* about =
    "Measures tranca on a private redis-server, or on the one that REDIS_URL names (redis:// or unix://), of which it\n"
    "touches nothing but its own keys. Exit code: 0; 1 if an invariant was violated or something failed; 2 for a bad\n"
    "command line; 128 + signal if interrupted. A claim that is MISSED does not change it: machines differ.";

std::vector<std::shared_ptr<section>> chosen_from(const std::vector<std::string>& names) {
    auto sections = all_sections();
    if (names.empty()) return sections;
    std::erase_if(sections,
                  [&](const auto& one) { return std::find(names.begin(), names.end(), one->name()) == names.end(); });
    return sections;
}

void require_writable(const char* option, const std::string& file) {
    if (file.empty()) return;
    if (!std::ofstream(file, std::ios::app)) throw CLI::ValidationError(option, "cannot write " + file);
}

std::string section_help() {
    std::string text = "Sections:\n";
    for (const auto& one : all_sections())
        text += fmt::format("  {:<14}{}\n", one->name(), one->summary());
    return text;
}

}  // namespace

options read_options(int count, const char* const* arguments) {
    options wanted;
    CLI::App app{about, "bench/run"};
    app.footer(section_help());
    app.get_formatter()->column_width(28);
    bool quick = false, full = false, servers = false;
    std::vector<std::string> chosen, names;
    for (const auto& one : all_sections())
        names.emplace_back(one->name());
    auto* quick_flag = app.add_flag("--quick", quick, "everything in about four minutes");
    app.add_flag("--full", full, "the book's 60 s a cell, and longer elsewhere")->excludes(quick_flag);
    auto* sections_option = app.add_option("--sections", chosen, "only these (default: all)")
                                ->delimiter(',')
                                ->check(CLI::IsMember(names))
                                ->type_name("SECTION,...");
    app.add_flag("--servers", servers, "only what takes more than one server")->excludes(sections_option);
    app.add_option("--json", wanted.json, "write the figures for programs")->type_name("FILE");
    app.add_option("--html", wanted.html, "write a page with plots")->type_name("FILE");
    for (const auto& one : all_sections())
        one->add_options(app);
    try {
        app.parse(count, arguments);
        require_writable("--json", wanted.json);
        require_writable("--html", wanted.html);
    } catch (const CLI::ParseError& failure) {
        throw leave{app.exit(failure) == 0 ? 0 : bad_usage};
    }
    wanted.speed = quick ? pace::quick : full ? pace::full : pace::usual;
    if (servers) chosen = {"quorum"};
    wanted.sections = chosen_from(chosen);
    return wanted;
}

}  // namespace tranca::bench
