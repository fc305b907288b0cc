// checker: what a history must not show. One function a promise.
//
//     const auto found = check(all, {.lateness = 500ms, .idle = 300ms});
//     for (const auto& each : found) std::cout << each << '\n';
//
// All but C9 are sweeps, since every attempt has a name of its own: O(n log n) over the records. C9 searches, on short
// histories. A checker never accuses where the history leaves a way out: an outcome nobody knows counts as whatever is
// innocent. What each of them finds is planted in checker_test.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "faults/holds.hpp"

namespace tranca::faults_test {

using std::chrono::milliseconds;

/// What a run is to be judged by.
struct rules {
    std::int64_t limit{1};            // permits of a semaphore
    milliseconds lateness{500};       // how long after the end of its wait an acquire may return
    milliseconds idle{500};           // how long something free may stay free while somebody wants it
    milliseconds ahead{1'000};        // how far a fence may be ahead of the wall clock
    bool exclusion_may_break{false};  // the fault takes the lock from its holder: a holder in the right may be refused
    bool search{false};               // C9, for histories in which no lease ends
    bool resends{false};              // answers get lost: what is asked again finds what the first asking did
};

struct finding {
    std::string checker;
    std::string lock;
    instant time;
    std::string text;

    friend std::ostream& operator<<(std::ostream& out, const finding& what);
};

using findings = std::vector<finding>;

findings mutual_exclusion(const history& all);             // C1: no two beliefs at once, unless both read
findings limit_kept(const history& all, const rules& by);  // C2: permits believed at once; of each slot, one
findings fences_grow(const history& all);                  // C3: unique; larger than all that were known when asked for
findings fences_near_clock(const history& all, const rules& by);  // C4
findings resource_in_order(const history& all, const rules& by);  // C5: the fenced register
findings waits_end(const history& all, const rules& by);  // C6: acquires return; nothing stays free while wanted
findings answers_are_honest(const history& all);          // C7: of release, extension and the guard itself
findings nothing_stays(const history& all);               // C8: what is left when all is over
findings some_order_explains(const history& all, const rules& by);  // C9: also those whose outcome nobody knows

/// All of them.
findings check(const history& all, const rules& by);

/// How much a history holds, and how long hand-overs took.
struct totals {
    std::size_t acquires{0};
    std::size_t grants{0};
    std::size_t fences{0};
    std::size_t accesses{0};
    std::size_t refused{0};
    std::size_t unknown{0};
    std::size_t faults{0};
    std::size_t searched{0};       // short histories that C9 went through
    std::int64_t hand_over_us{0};  // median of what was free while wanted
    std::int64_t idle_us{0};       // the longest
    std::size_t skipped{0};        // the most grants to others that one waiter saw go by
};

totals totals_of(const history& all, const rules& by);

/// Of each time something was free while somebody wanted it: when it began and how long it lasted.
struct idle_span {
    instant from;
    instant length;
};
std::vector<idle_span> idle_spans(const std::vector<attempt>& of_one_lock, std::int64_t limit);

/// C9 searches histories of one lock with no more attempts than this.
inline constexpr std::size_t longest_searched = 16;

/// Is there an order that explains all answers? True for a history that is too long.
bool is_explained(const std::vector<attempt>& of_one_lock, const rules& by);

}  // namespace tranca::faults_test
