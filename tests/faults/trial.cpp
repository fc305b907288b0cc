#include "faults/trial.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "faults/nemesis.hpp"
#include "support/deadline.hpp"

namespace tranca::faults_test {

namespace {

using namespace std::chrono_literals;

void haunt(arena& place, const cell& what, milliseconds time) {
    const testing::deadline end{time};
    // First of all the clients have to be there.
    std::this_thread::sleep_for(100ms);
    while (!end.expired()) {
        const auto pause = place.between(what.pause / 6, what.pause);
        std::this_thread::sleep_for(std::min<testing::steady::duration>(pause, end.left()));
        if (end.expired() || what.faults.empty()) continue;
        nemeses().at(what.faults.at(place.below(what.faults.size())))(place);
    }
}

bool is_expected(const trial& made, const cell& what) {
    const auto count = [&](const std::vector<std::string>& checkers) {
        return std::ranges::count_if(
            made.found, [&](const finding& one) { return std::ranges::find(checkers, one.checker) != checkers.end(); });
    };
    const auto broken = count(what.breaks);
    const auto other = count(what.may_break);
    const bool is_right = what.breaks.empty() || broken > 0;
    return made.sum.grants > 0 && is_right && static_cast<std::size_t>(broken + other) == made.found.size();
}

void keep_history(const history& all, const std::filesystem::path& folder, const std::string& name) {
    std::filesystem::create_directories(folder);
    std::ofstream out{folder / (name + ".history.jsonl")};
    for (const auto& line : all)
        out << to_line(line);
}

std::string expectation_of(const cell& what) {
    const auto must = what.breaks.empty() ? "safe" : fmt::format("breaks {}", fmt::join(what.breaks, " or "));
    return what.may_break.empty() ? must : fmt::format("{} but for {}", must, fmt::join(what.may_break, " or "));
}

}  // namespace

trial run(const cell& what, std::uint64_t seed, milliseconds time, const std::filesystem::path& keep) {
    trial made{.cell = what.name, .seed = seed};
    const testing::stopwatch since_start;
    instant begun = 0;
    history all;
    try {
        arena place{what.arena, seed};
        begun = place.begun();
        haunt(place, what, time);
        all = place.end();
    } catch (const std::exception& failure) {
        made.time = since_start.elapsed_ms();
        made.failure = failure.what();
        return made;
    }
    made.time = since_start.elapsed_ms();
    made.found = check(all, what.by);
    made.sum = totals_of(all, what.by);
    instant first = never;
    for (const auto& one : made.found) {
        ++made.by_checker[one.checker];
        first = std::min(first, one.time);
    }
    if (first != never) made.detected_ms = std::max<instant>(first - begun, 0) / per_ms;
    made.is_as_expected = is_expected(made, what);
    if (!made.is_as_expected && !keep.empty()) keep_history(all, keep, what.name);
    return made;
}

std::string text_of(const trial& made, const cell& what) {
    std::vector<std::string> found;
    for (const auto& [checker, count] : made.by_checker)
        found.push_back(fmt::format("{} x{}", checker, count));
    auto text = fmt::format("{:<6} {:<26} {:>5} faults {:>6} grants {:>6} fences  idle {:>6.1f} ms at most  {}: {}",
                            made.is_as_expected ? "ok" : "FAILED", made.cell, made.sum.faults, made.sum.grants,
                            made.sum.fences, static_cast<double>(made.sum.idle_us) / 1'000, expectation_of(what),
                            found.empty() ? "nothing found" : fmt::format("{}", fmt::join(found, ", ")));
    if (!made.failure.empty()) text += "\n       " + made.failure;
    if (made.detected_ms >= 0) text += fmt::format(" after {} ms", made.detected_ms);
    return text;
}

std::string json_of(const trial& made, const cell& what) {
    nlohmann::ordered_json line;
    line["part"] = "faults";
    line["cell"] = made.cell;
    line["kind"] = what.arena.load.kind;
    line["nemeses"] = what.faults;
    line["expected"] = expectation_of(what);
    line["ok"] = made.is_as_expected;
    line["seed"] = made.seed;
    line["milliseconds"] = made.time.count();
    line["faults"] = made.sum.faults;
    line["acquires"] = made.sum.acquires;
    line["holds"] = made.sum.grants;
    line["fences"] = made.sum.fences;
    line["accesses"] = made.sum.accesses;
    line["refused"] = made.sum.refused;
    line["in_doubt"] = made.sum.unknown;
    line["searched"] = made.sum.searched;
    line["hand_over_us"] = made.sum.hand_over_us;
    line["idle_us"] = made.sum.idle_us;
    line["skipped"] = made.sum.skipped;
    line["found"] = made.by_checker;
    if (!made.failure.empty()) line["failure"] = made.failure;
    line["detected_ms"] = made.detected_ms;
    return line.dump() + "\n";
}

}  // namespace tranca::faults_test
