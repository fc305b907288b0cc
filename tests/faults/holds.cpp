#include "faults/holds.hpp"

#include <algorithm>
#include <unordered_map>

namespace tranca::faults_test {

namespace {

void take_acquire(attempt& one, const record& line) {
    if (line.phase == phase::invoked) {
        one.asked = line.time;
        one.shared = line.mode == "shared";
        one.lease = line.lease;
        one.wait = line.wait;
        return;
    }
    one.answered = line.time;
    one.outcome = line.phase;
    one.busy = line.why == "busy";
    if (line.phase != phase::ok) return;
    one.begun = line.time;
    one.fence = line.fence;
    one.slots = line.slots;
    one.wall = line.wall;
    one.valid_until = line.valid_until;
}

void take_extension(attempt& one, const record& line) {
    if (line.phase == phase::ok) one.valid_until = std::max(one.valid_until, line.valid_until);
    if (line.phase == phase::failed) one.valid_until = std::min(one.valid_until, line.time);
}

void take_check(attempt& one, const record& line) {
    if (line.phase != phase::ok) return;
    one.last_true = std::max(one.last_true, line.time);
    one.valid_until = std::max(one.valid_until, line.valid_until);
}

void take_release(attempt& one, const record& line) {
    if (line.phase == phase::invoked) {
        one.release_asked = line.time;
        return;
    }
    one.released = line.time;
    one.release_outcome = line.phase;
}

void take(attempt& one, const record& line) {
    switch (line.operation) {
    case op::acquire: return take_acquire(one, line);
    case op::extend: return take_extension(one, line);
    case op::check: return take_check(one, line);
    case op::release: return take_release(one, line);
    default: return;
    }
}

// What was never settled ends with its lease, counted from the last moment at which the server can have begun it.
void conclude(attempt& one) {
    one.belief_end = std::min({one.valid_until, one.release_asked, one.died});
    const auto last_sign = std::min(one.died, one.answered == never ? one.died : one.answered);
    const auto lease = one.lease * per_ms;
    if (one.granted()) {
        one.free_by = std::max(one.valid_until, one.begun) + lease + per_ms;
        if (one.died != never) one.free_by = std::min(one.free_by, one.died + lease + per_ms);
        if (one.settled()) one.free_by = one.released;
    } else if (one.outcome == phase::failed) {
        one.free_by = one.answered;
    } else if (last_sign != never) {
        one.free_by = last_sign + lease + per_ms;
    }
}

}  // namespace

std::vector<attempt> attempts_of(const history& all) {
    std::vector<attempt> made;
    std::unordered_map<std::string, std::size_t> place;
    std::unordered_map<std::int64_t, instant> deaths;
    for (const auto& line : all) {
        if (line.operation == op::nemesis && line.attempt == "kill") deaths.emplace(line.target, line.time);
        const bool is_ours = line.operation == op::acquire || line.operation == op::extend ||
                             line.operation == op::check || line.operation == op::release;
        if (!is_ours) continue;
        const auto [found, is_new] = place.try_emplace(line.attempt, made.size());
        if (is_new) {
            made.emplace_back();
            made.back().lock = line.lock;
            made.back().id = line.attempt;
            made.back().process = line.process;
        }
        take(made[found->second], line);
    }
    for (auto& one : made) {
        if (const auto death = deaths.find(one.process); death != deaths.end()) one.died = death->second;
        conclude(one);
    }
    std::ranges::stable_sort(made, {}, &attempt::asked);
    return made;
}

std::map<std::string, std::vector<attempt>> by_lock(const std::vector<attempt>& all) {
    std::map<std::string, std::vector<attempt>> sorted;
    for (const auto& one : all)
        sorted[one.lock].push_back(one);
    return sorted;
}

instant stopped_between(const history& all, std::int64_t process, instant from, instant to) {
    instant sum = 0;
    instant stopped = never;
    const auto count = [&](instant end) {
        const auto first = std::max(from, stopped);
        if (first < std::min(end, to)) sum += std::min(end, to) - first;
    };
    for (const auto& line : all) {
        if (line.operation != op::nemesis || line.target != process) continue;
        if (line.attempt == "stop") stopped = line.time;
        if (line.attempt != "continue" || stopped == never) continue;
        count(line.time);
        stopped = never;
    }
    if (stopped != never) count(to);
    return sum;
}

instant stalled_between(const history& all, instant from, instant to) {
    instant sum = 0;
    for (const auto& line : all) {
        if (line.operation != op::nemesis || line.attempt != "stall") continue;
        const auto first = std::max(from, line.time);
        const auto last = std::min(to, line.time + line.value);
        sum += std::max<instant>(last - first, 0);
    }
    return sum;
}

}  // namespace tranca::faults_test
