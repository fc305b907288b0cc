// history_builder: histories written by hand, in milliseconds.
//
//     const auto all = written({acquire("a", 10, 12, {.fence = 5, .until = 90}), release("a", 50, 52)});
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "faults/history.hpp"

namespace tranca::faults_test {

inline constexpr instant ms = 1'000'000;

struct granted {
    std::uint64_t fence{0};
    instant until{1'000};
    std::vector<std::int64_t> slots{};
    bool shared{false};
    std::int64_t wait{1'000};
    phase outcome{phase::ok};
    std::int64_t process{1};
    std::int64_t lease{400};
    std::int64_t wall{0};
};

inline record line(op what, phase how, const std::string& attempt, instant at) {
    record made;
    made.time = at * ms;
    made.process = 1;
    made.operation = what;
    made.phase = how;
    made.lock = "lock";
    made.attempt = attempt;
    return made;
}

inline history acquire(const std::string& attempt, instant asked, instant answered, const granted& how = {}) {
    auto first = line(op::acquire, phase::invoked, attempt, asked);
    first.process = how.process;
    first.mode = how.shared ? "shared" : "";
    first.wait = how.wait;
    first.lease = how.lease;
    auto last = line(op::acquire, how.outcome, attempt, answered);
    last.process = how.process;
    if (how.outcome == phase::failed) last.why = "busy";
    last.fence = how.fence;
    last.slots = how.slots;
    last.valid_until = how.until * ms;
    last.wall = how.wall;
    return {first, last};
}

inline history release(const std::string& attempt, instant asked, instant answered, phase how = phase::ok) {
    return {line(op::release, phase::invoked, attempt, asked), line(op::release, how, attempt, answered)};
}

inline history extend(const std::string& attempt, instant asked, instant answered, instant until,
                      phase how = phase::ok) {
    auto last = line(op::extend, how, attempt, answered);
    last.valid_until = until * ms;
    return {line(op::extend, phase::invoked, attempt, asked), last};
}

inline history said_true(const std::string& attempt, instant at, instant until = 0) {
    auto made = line(op::check, phase::ok, attempt, at);
    made.valid_until = until * ms;
    return {made};
}

inline history access(const std::string& attempt, instant at, const std::string& mode, std::uint64_t fence,
                      std::int64_t value, phase how = phase::ok) {
    auto made = line(op::access, how, attempt, at);
    made.mode = mode;
    made.fence = fence;
    made.value = value;
    return {made};
}

inline history nemesis(const std::string& kind, instant at, std::int64_t target = 0) {
    auto made = line(op::nemesis, phase::ok, kind, at);
    made.target = target;
    return {made};
}

/// One history, in the order of time.
inline history written(std::initializer_list<history> parts) {
    history all;
    for (const auto& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    std::ranges::stable_sort(all, {}, &record::time);
    return all;
}

}  // namespace tranca::faults_test
