// C9: is there an order of all operations, each between its invocation and its answer, in which every answer is right?
// The search of Wing and Gong with the memory of Lowe, on an owner-aware lock or set of permits with fences.
// A grant or release nobody heard of may have been done at any time after it was asked for, or never. Where answers get lost, an
// attempt may have been granted and undone before the answer that was heard.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "faults/checker.hpp"

namespace tranca::faults_test {

namespace {

enum class deed { grant, refuse, release, find_gone };

struct operation {
    deed what;
    std::size_t owner;
    std::int64_t weight;
    std::uint64_t fence;  // 0: any
    bool shared;
    bool optional;
    bool before_answer;  // optional, and not once the answer that was heard was given
    instant answered;
    instant asked;
};

struct state {
    std::set<std::size_t> owners;
    std::int64_t held{0};
    bool shared{false};
    std::uint64_t fence{0};

    friend auto operator<=>(const state&, const state&) = default;
};

// At most four operations an attempt: one bit each.
static_assert(4 * longest_searched <= 64);

class search {
public:
    search(const std::vector<attempt>& all, const rules& by) : by_{by} {
        for (std::size_t owner = 0; owner < all.size(); ++owner)
            add(all[owner], owner);
        std::ranges::sort(todo_, {}, &operation::asked);
        for (std::size_t i = 0; i < todo_.size(); ++i)
            if (!todo_[i].optional && (todo_[i].what == deed::refuse || todo_[i].what == deed::grant))
                answer_of_.emplace(todo_[i].owner, i);
    }

    bool run() { return from(0, {}); }

private:
    void add(const attempt& one, std::size_t owner) {
        const auto put = [&](deed what, bool optional, instant asked, instant answered) {
            todo_.push_back({what, owner, one.weight(), one.fence, one.shared, optional, false,
                             optional ? never : answered, asked});
        };
        if (by_.resends && one.outcome != phase::unknown) add_undone(one, owner);
        if (one.granted()) {
            put(deed::grant, false, one.asked, one.answered);
        } else if (one.outcome == phase::failed) {
            if (one.wait == 0 && one.busy) put(deed::refuse, false, one.asked, one.answered);
            return;
        } else {
            put(deed::grant, true, one.asked, never);
            return put(deed::release, true, one.asked, never);  // an undo that was not heard of either
        }
        if (one.release_asked == never) return;
        if (one.release_outcome == phase::unknown) return put(deed::release, true, one.release_asked, never);
        put(one.release_outcome == phase::ok ? deed::release : deed::find_gone, false, one.release_asked, one.released);
    }

    void add_undone(const attempt& one, std::size_t owner) {
        for (const auto what : {deed::grant, deed::release})
            todo_.push_back({what, owner, one.weight(), 0, one.shared, true, true, never, one.asked});
    }

    [[nodiscard]] bool is_allowed(const operation& next, const state& now) const {
        const bool is_in = now.owners.contains(next.owner);
        const bool is_full = now.held > 0 && next.shared && now.shared ? false : now.held + next.weight > by_.limit;
        switch (next.what) {
        case deed::grant: return !is_in && !is_full && (next.fence == 0 || next.fence >= now.fence);
        case deed::refuse: return is_full && !is_in;
        case deed::release: return is_in;
        case deed::find_gone: return !is_in || by_.resends;
        }
        return false;
    }

    static state after(const operation& done, state now) {
        if (done.what == deed::grant) {
            now.owners.insert(done.owner);
            now.held += done.weight;
            now.shared = done.shared;
            now.fence = std::max(now.fence, done.fence);
        }
        if ((done.what == deed::release || done.what == deed::find_gone) && now.owners.erase(done.owner) > 0) {
            now.held -= done.weight;
        }
        return now;
    }

    bool from(std::uint64_t done, const state& now) {
        instant first_answer = never;
        bool over = true;
        for (std::size_t i = 0; i < todo_.size(); ++i) {
            if ((done >> i & 1U) != 0) continue;
            first_answer = std::min(first_answer, todo_[i].answered);
            over = over && todo_[i].optional;
        }
        if (over) return true;
        if (!seen_.emplace(done, now).second) return false;
        for (std::size_t i = 0; i < todo_.size(); ++i) {
            if ((done >> i & 1U) != 0 || todo_[i].asked > first_answer || !is_allowed(todo_[i], now) ||
                is_too_late(todo_[i], done))
                continue;
            if (from(done | std::uint64_t{1} << i, after(todo_[i], now))) return true;
        }
        return false;
    }

    [[nodiscard]] bool is_too_late(const operation& next, std::uint64_t done) const {
        const auto answer = answer_of_.find(next.owner);
        return next.before_answer && answer != answer_of_.end() && (done >> answer->second & 1U) != 0;
    }

    const rules& by_;
    std::vector<operation> todo_;
    std::map<std::size_t, std::size_t> answer_of_;
    std::set<std::pair<std::uint64_t, state>> seen_;
};

}  // namespace

namespace {

// On a machine that stood still a lease may have ended all the same; then there is nothing to be said.
bool may_have_lapsed(const std::vector<attempt>& of_one_lock) {
    instant last = 0;
    for (const auto& one : of_one_lock) {
        if (one.answered != never) last = std::max(last, one.answered);
        if (one.released != never) last = std::max(last, one.released);
    }
    return last - of_one_lock.front().asked > of_one_lock.front().lease * per_ms;
}

}  // namespace

bool is_explained(const std::vector<attempt>& of_one_lock, const rules& by) {
    return of_one_lock.size() > longest_searched || search{of_one_lock, by}.run();
}

findings some_order_explains(const history& all, const rules& by) {
    findings found;
    if (!by.search) return found;
    for (const auto& [lock, attempts] : by_lock(attempts_of(all)))
        if (!may_have_lapsed(attempts) && !is_explained(attempts, by))
            found.push_back({"C9", lock, attempts.front().asked,
                             "no order of its " + std::to_string(attempts.size()) + " attempts explains the answers"});
    return found;
}

}  // namespace tranca::faults_test
