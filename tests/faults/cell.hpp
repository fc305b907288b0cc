// cell: one line of the programme: a workload, the faults it meets, and what must come of it.
//
//     for (const auto& each : cells()) std::cout << each.name << ": " << (each.breaks.empty() ? "safe" : "breaks") << '\n';
//
// A cell that breaks is as much a test as one that is safe: it shows that the checkers see what they are there for. Either
// the fault takes the lock away from its holder, which no lock with a ttl survives - then nothing but exclusion may break, and
// the fences must tell - or the workload is wrong on purpose.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "faults/arena.hpp"
#include "faults/checker.hpp"

namespace tranca::faults_test {

struct cell {
    std::string name;
    arena_settings arena{};
    std::vector<std::string> faults{};
    std::vector<std::string> breaks{};     // checkers of which one must find something, and no other may; empty: safe
    std::vector<std::string> may_break{};  // these may find something besides, as chance has it
    rules by{};
    milliseconds time{1'500};  // of faults
    milliseconds pause{60};    // between two of them, at most
    std::string why{};
};

/// All of them, in the order in which they are told.
[[nodiscard]] const std::vector<cell>& cells();

}  // namespace tranca::faults_test
