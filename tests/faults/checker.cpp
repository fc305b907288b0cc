// C1 to C5: who believed what, and in which order of fences.
#include "faults/checker.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace tranca::faults_test {

namespace {

std::string span_text(const attempt& one) {
    return one.id + " [" + std::to_string(one.begun) + ", " + std::to_string(one.belief_end) + "]";
}

std::vector<attempt> believed(std::vector<attempt> all) {
    std::erase_if(all, [](const attempt& one) { return !one.granted() || one.belief_end <= one.begun; });
    std::ranges::sort(all, {}, &attempt::begun);
    return all;
}

// The largest fence known before each moment, of all and of those alone.
struct fence_sweep {
    std::uint64_t alone{0};
    std::uint64_t any{0};
    std::string whose{};

    void learn(const attempt& one) {
        if (one.fence > any) whose = one.id;
        any = std::max(any, one.fence);
        if (!one.shared) alone = std::max(alone, one.fence);
    }
    [[nodiscard]] bool allows(const attempt& one) const {
        return one.shared ? one.fence > alone && one.fence >= any : one.fence > any;
    }
};

void same_fences(const std::string& lock, const std::vector<attempt>& all, findings& found) {
    std::map<std::uint64_t, const attempt*> owners;
    for (const auto& one : all) {
        if (!one.granted() || one.fence == 0) continue;
        const auto [other, is_new] = owners.try_emplace(one.fence, &one);
        if (!is_new && !(one.shared && other->second->shared))
            found.push_back({"C3", lock, one.begun, one.id + " has the fence of " + other->second->id});
    }
}

void smaller_fences(const std::string& lock, const std::vector<attempt>& all, findings& found) {
    std::vector<const attempt*> known;
    for (const auto& one : all)
        if (one.granted() && one.fence > 0) known.push_back(&one);
    auto asked = known;
    std::ranges::sort(known, {}, &attempt::begun);
    std::ranges::sort(asked, {}, &attempt::asked);
    fence_sweep largest;
    auto next = known.begin();
    for (const auto* one : asked) {
        for (; next != known.end() && (*next)->begun < one->asked; ++next)
            largest.learn(**next);
        if (!largest.allows(*one))
            found.push_back({"C3", lock, one->begun,
                             one->id + " asked later than " + largest.whose + " was granted, and has no larger fence"});
    }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const finding& what) {
    return out << what.checker << " " << what.lock << " at " << what.time << ": " << what.text;
}

findings mutual_exclusion(const history& all) {
    findings found;
    for (auto& [lock, attempts] : by_lock(attempts_of(all))) {
        const attempt* alone = nullptr;  // the one whose belief lasts longest so far
        const attempt* anyone = nullptr;
        const auto sorted = believed(attempts);
        for (const auto& one : sorted) {
            if (!one.slots.empty()) continue;
            const auto* other = one.shared ? alone : anyone;
            if (other != nullptr && other->belief_end > one.begun)
                found.push_back({"C1", lock, one.begun, span_text(one) + " believes beside " + span_text(*other)});
            const auto later = [&](const attempt* known) {
                return known == nullptr || one.belief_end > known->belief_end ? &one : known;
            };
            anyone = later(anyone);
            if (!one.shared) alone = later(alone);
        }
    }
    return found;
}

findings limit_kept(const history& all, const rules& by) {
    findings found;
    for (auto& [lock, attempts] : by_lock(attempts_of(all))) {
        std::multimap<instant, const attempt*> ends;
        std::map<std::int64_t, const attempt*> in_slot;
        std::int64_t held = 0;
        const auto sorted = believed(attempts);
        for (const auto& one : sorted) {
            if (one.slots.empty()) continue;
            for (; !ends.empty() && ends.begin()->first <= one.begun; ends.erase(ends.begin()))
                held -= ends.begin()->second->weight();
            held += one.weight();
            ends.emplace(one.belief_end, &one);
            if (held > by.limit)
                found.push_back(
                    {"C2", lock, one.begun, std::to_string(held) + " believed at once, with " + span_text(one)});
            for (const auto slot : one.slots) {
                auto& before = in_slot[slot];
                if (before != nullptr && before->belief_end > one.begun && slot >= 0)
                    found.push_back(
                        {"C2", lock, one.begun,
                         "slot " + std::to_string(slot) + " twice: " + span_text(one) + ", " + span_text(*before)});
                if (before == nullptr || one.belief_end > before->belief_end) before = &one;
            }
        }
    }
    return found;
}

findings fences_grow(const history& all) {
    findings found;
    for (const auto& [lock, attempts] : by_lock(attempts_of(all))) {
        same_fences(lock, attempts, found);
        smaller_fences(lock, attempts, found);
    }
    return found;
}

findings fences_near_clock(const history& all, const rules& by) {
    findings found;
    const auto most = std::chrono::microseconds{by.ahead}.count();
    for (const auto& one : attempts_of(all)) {
        if (!one.granted() || one.fence == 0 || one.wall == 0) continue;
        const auto ahead = static_cast<std::int64_t>(one.fence) - one.wall;
        if (ahead > most)
            found.push_back(
                {"C4", one.lock, one.begun, one.id + ": its fence is " + std::to_string(ahead) + " us ahead"});
    }
    return found;
}

findings resource_in_order(const history& all, const rules& by) {
    findings found;
    std::map<std::pair<std::string, std::int64_t>, std::pair<std::uint64_t, std::int64_t>> seen;  // fence, value
    std::unordered_map<std::string, attempt> owners;
    for (auto& one : attempts_of(all))
        owners.emplace(one.id, one);
    for (const auto& line : all) {
        if (line.operation != op::access) continue;
        auto& [fence, value] = seen[{line.lock, line.slots.empty() ? -1 : line.slots.front()}];
        const auto tell = [&](const std::string& text) {
            found.push_back({"C5", line.lock, line.time, line.attempt + " " + line.mode + ": " + text});
        };
        if (line.phase == phase::ok) {
            if (line.fence < fence) tell("accepted, behind a larger fence");
            if (line.mode == "write" && line.value != value + 1)
                tell("an update is lost: " + std::to_string(value) + " became " + std::to_string(line.value));
            fence = std::max(fence, line.fence);
            if (line.mode == "write") value = line.value;
            continue;
        }
        if (line.fence >= fence) tell("refused, though no larger fence was there");
        const auto owner = owners.find(line.attempt);
        if (!by.exclusion_may_break && owner != owners.end() && line.time < owner->second.belief_end)
            tell("refused, though its holder is in the right");
    }
    return found;
}

}  // namespace tranca::faults_test
