// C6 to C8: what must happen in the end, and whether the answers about it are true.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "faults/checker.hpp"

namespace tranca::faults_test {

namespace {

void late_returns(const history& all, const std::vector<attempt>& attempts, const rules& by, findings& found) {
    for (const auto& one : attempts) {
        const auto until = one.asked + one.wait * per_ms + instant{by.lateness.count()} * per_ms;
        // Whoever was killed, or still waited when the history ended, is late if somebody outlived it.
        const auto answered = std::min({one.answered, one.died, all.back().time});
        if (answered <= until) continue;
        const auto late = answered - until - stopped_between(all, one.process, one.asked, answered) -
                          stalled_between(all, one.asked, answered);
        if (late > 0)
            found.push_back(
                {"C6", one.lock, one.asked, one.id + " returned " + std::to_string(late / per_ms) + " ms too late"});
    }
}

// Was this owner's lock surely given to another between its grant and that moment?
class succession {
public:
    explicit succession(const std::vector<attempt>& of_one_lock) {
        for (const auto& one : of_one_lock)
            if (one.granted() && one.fence > 0) all_.push_back(&one);
        std::ranges::sort(all_, {}, &attempt::begun);
    }

    [[nodiscard]] const attempt* successor(const attempt& owner, instant before) const {
        const auto first = std::ranges::upper_bound(all_, owner.begun, {}, &attempt::begun);
        for (auto next = first; next != all_.end() && (*next)->begun < before; ++next) {
            const bool excludes = owner.slots.empty() ? !(owner.shared && (*next)->shared) : shares_slot(owner, **next);
            if (excludes && (*next)->fence > owner.fence) return *next;
        }
        return nullptr;
    }

private:
    static bool shares_slot(const attempt& one, const attempt& other) {
        return std::ranges::any_of(
            one.slots, [&](std::int64_t slot) { return std::ranges::find(other.slots, slot) != other.slots.end(); });
    }

    std::vector<const attempt*> all_;
};

void dishonest_answers(const std::string& lock, const std::vector<attempt>& all, findings& found) {
    const succession order{all};
    for (const auto& one : all) {
        if (!one.granted()) continue;
        const auto tell = [&](instant when, const attempt* who, const std::string& what) {
            if (who != nullptr) found.push_back({"C7", lock, when, one.id + what + who->id});
        };
        if (one.release_outcome == phase::ok && one.release_asked != never)
            tell(one.released, order.successor(one, one.release_asked), " was told `released`, behind a grant to ");
        if (one.last_true > 0)
            tell(one.last_true, order.successor(one, one.last_true), " said that it holds, behind a grant to ");
    }
}

}  // namespace

std::vector<idle_span> idle_spans(const std::vector<attempt>& of_one_lock, std::int64_t limit) {
    // Time, then what it does to those who hold and to those who want.
    std::vector<std::tuple<instant, std::int64_t, std::int64_t>> steps;
    for (const auto& one : of_one_lock) {
        const bool may_hold = one.outcome != phase::failed;
        const auto from = one.granted() ? one.begun : one.asked;
        if (may_hold) {
            steps.emplace_back(from, one.weight(), 0);
            if (one.free_by != never) steps.emplace_back(std::max(one.free_by, from), -one.weight(), 0);
        }
        if (one.wait > 0 && (one.granted() || one.outcome == phase::failed)) {
            steps.emplace_back(one.asked, 0, 1);
            steps.emplace_back(one.granted() ? one.begun : one.answered, 0, -1);
        }
    }
    std::ranges::sort(steps);
    std::vector<idle_span> spans;
    std::int64_t held = 0, wanted = 0;
    instant since = never;
    for (const auto& [time, holds, wants] : steps) {
        held += holds;
        wanted += wants;
        const bool idle = wanted > 0 && held < limit;
        if (idle) since = std::min(since, time);
        if (idle || since == never) continue;
        if (time > since) spans.push_back({since, time - since});
        since = never;
    }
    return spans;
}

findings waits_end(const history& all, const rules& by) {
    findings found;
    if (all.empty()) return found;
    const auto attempts = attempts_of(all);
    late_returns(all, attempts, by, found);
    for (const auto& [lock, own] : by_lock(attempts))
        for (const auto& span : idle_spans(own, by.limit))
            if (span.length > instant{by.idle.count()} * per_ms &&
                span.length - stalled_between(all, span.from, span.from + span.length) >
                    instant{by.idle.count()} * per_ms)
                found.push_back({"C6", lock, span.from,
                                 "free for " + std::to_string(span.length / per_ms) + " ms while somebody waited"});
    return found;
}

findings answers_are_honest(const history& all) {
    findings found;
    for (const auto& [lock, attempts] : by_lock(attempts_of(all)))
        dishonest_answers(lock, attempts, found);
    // An extension that began when the guard had said it was over must not succeed.
    std::map<std::string, std::pair<instant, instant>> known;  // validity, and when the extension was asked for
    for (const auto& line : all) {
        auto& [valid_until, asked] = known[line.attempt];
        if (line.operation == op::extend && line.phase == phase::invoked) asked = line.time;
        if (line.operation == op::extend && line.phase == phase::ok && valid_until > 0 && asked > valid_until)
            found.push_back({"C7", line.lock, line.time, line.attempt + " was extended after its end"});
        if (line.valid_until > 0) valid_until = std::max(valid_until, line.valid_until);
    }
    return found;
}

findings nothing_stays(const history& all) {
    findings found;
    for (const auto& line : all) {
        if (line.operation != op::residue || line.phase == phase::ok) continue;
        found.push_back({"C8", line.lock, line.time, "left over: " + line.why});
    }
    return found;
}

totals totals_of(const history& all, const rules& by) {
    totals sum;
    const auto attempts = attempts_of(all);
    for (const auto& line : all) {
        sum.faults += line.operation == op::nemesis && line.attempt != "continue" && line.attempt != "stall" ? 1U : 0U;
        if (line.operation != op::access) continue;
        ++sum.accesses;
        sum.refused += line.phase == phase::ok ? 0U : 1U;
    }
    std::vector<instant> lengths;
    for (const auto& [lock, own] : by_lock(attempts)) {
        for (const auto& span : idle_spans(own, by.limit))
            lengths.push_back(span.length);
        if (by.search && own.size() <= longest_searched) ++sum.searched;
        std::vector<instant> grants;
        for (const auto& one : own)
            if (one.granted()) grants.push_back(one.begun);
        std::ranges::sort(grants);
        for (const auto& one : own) {
            if (one.wait == 0 || one.answered == never) continue;
            const auto passed =
                std::ranges::lower_bound(grants, one.answered) - std::ranges::lower_bound(grants, one.asked);
            sum.skipped = std::max(sum.skipped, static_cast<std::size_t>(std::max<std::ptrdiff_t>(passed, 0)));
        }
    }
    for (const auto& one : attempts) {
        ++sum.acquires;
        sum.grants += one.granted() ? 1U : 0U;
        sum.fences += one.granted() && one.fence > 0 ? 1U : 0U;
        sum.unknown += one.outcome == phase::unknown ? 1U : 0U;
    }
    if (lengths.empty()) return sum;
    std::ranges::sort(lengths);
    sum.hand_over_us = lengths[lengths.size() / 2] / 1'000;
    sum.idle_us = lengths.back() / 1'000;
    return sum;
}

findings check(const history& all, const rules& by) {
    findings found;
    for (auto&& part : {mutual_exclusion(all), limit_kept(all, by), fences_grow(all), fences_near_clock(all, by),
                        resource_in_order(all, by), waits_end(all, by), answers_are_honest(all), nothing_stays(all),
                        some_order_explains(all, by)})
        found.insert(found.end(), part.begin(), part.end());
    return found;
}

}  // namespace tranca::faults_test
