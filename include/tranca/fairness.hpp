#pragma once

// In which order those who wait are served.
//
//     tranca::mutex press{redis, "press", {.fairness = tranca::fairness::on}};
//
// Promises of fairness::on: strictly first come, first served, across all processes, in the order in which the server heard
// of them; no clock decides. One who tries, and does not wait, gets nothing while somebody waits. Who gives up leaves the
// line at once; who crashes or freezes holds the next one up for its waiter lease at most - it is never given the lock while it
// does not answer, as a sleeper that is woken may be without fairness.
// Costs: a hand-over takes two trips instead of one, since who is woken asks only then; a waiter is heard of twice a waiter
// lease at least; threads of one process wait one by one, and hand nothing over among themselves.
// Does not hold unless all contenders of a name ask for it: one that does not overtakes those in line.

#include <tranca/time.hpp>

namespace tranca {

/// See the top of this file.
enum class fairness { off, on };

/// The longest waiter lease.
inline constexpr milliseconds longest_waiter_lease{60'000};

/// Throws errc::invalid_argument unless 10 ms <= lease <= longest_waiter_lease. No I/O.
void require_waiter_lease(milliseconds lease);

}  // namespace tranca
