// holds: the attempts of a history, each put together from its records.
//
//     for (const auto& each : attempts_of(all))
//         if (each.granted()) std::cout << each.lock << " from " << each.begun << " to " << each.belief_end << '\n';
//
// A belief begins when the answer to the acquire was read and ends with the first of: the release's invocation, the death of
// its process, the end of validity by the guard's own word (extended by what extensions and checks said later).
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "faults/history.hpp"

namespace tranca::faults_test {

inline constexpr instant never = std::numeric_limits<instant>::max();
inline constexpr instant per_ms = 1'000'000;

struct attempt {
    std::string lock;
    std::string id;
    std::int64_t process{0};
    bool shared{false};
    std::uint64_t fence{0};
    std::vector<std::int64_t> slots;
    std::int64_t lease{0};  // ms
    std::int64_t wait{0};   // ms
    std::int64_t wall{0};

    instant asked{0};
    instant answered{never};        // whatever the answer was
    phase outcome{phase::unknown};  // of the acquire
    bool busy{false};               // failed, and not by an error
    instant begun{never};           // when it was known to be granted
    instant belief_end{0};          // see above
    instant valid_until{0};         // by the guard's own word
    instant last_true{0};           // the last time it was asked and said true
    instant release_asked{never};
    instant released{never};
    phase release_outcome{phase::unknown};
    instant died{never};
    instant free_by{never};  // from when the server has surely given it up by itself

    [[nodiscard]] bool granted() const { return outcome == phase::ok; }
    [[nodiscard]] bool settled() const { return released != never && release_outcome != phase::unknown; }
    [[nodiscard]] std::int64_t weight() const { return slots.empty() ? 1 : static_cast<std::int64_t>(slots.size()); }
};

/// In the order of their invocations.
[[nodiscard]] std::vector<attempt> attempts_of(const history& all);

/// The same, sorted by lock.
[[nodiscard]] std::map<std::string, std::vector<attempt>> by_lock(const std::vector<attempt>& all);

/// For how long a process stood still between two moments.
[[nodiscard]] instant stopped_between(const history& all, std::int64_t process, instant from, instant to);

/// For how long the machine itself gave nobody any time between two moments; see arena.hpp.
[[nodiscard]] instant stalled_between(const history& all, instant from, instant to);

}  // namespace tranca::faults_test
