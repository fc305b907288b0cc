#pragma once

// What an attempt at a quorum has heard so far, and what it tells if that was too little.
//
//     quorum_lease::findings found;  ...  throw no_majority("acquiring", name(), votes, found.failures);
//
// Promises: the first reason counts, and the text names up to five. Pure.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <tranca/error.hpp>
#include <tranca/key.hpp>
#include <tranca/quorum_lease.hpp>
#include <tranca/tally.hpp>

namespace tranca {

struct quorum_lease::findings {
    std::function<bool()> cut{};
    bool was_cut = false;
    std::vector<error> failures{};
    std::vector<bool> excluded{};      // not to be asked to grant anything
    std::vector<milliseconds> busy{};  // what is left of the holders' leases
    std::uint64_t largest = 0;         // fence in any answer
};

/// Why a majority could not be asked.
[[nodiscard]] error no_majority(std::string_view what, const key& name, const tally& votes,
                                const std::vector<error>& failures);

}  // namespace tranca
