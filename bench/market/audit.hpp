#pragma once

// The invariants of the market, checked against the data when all workers have ended.
//
// Money is only moved: the funds add up to what the buyers brought. Every item ever made is in exactly one place, on the
// market or in one inventory, and nothing else is. Nobody is in debt. What the workers counted agrees with the data.
// Promises to read only; each violation is one sentence.

#include <span>
#include <string>
#include <vector>

#include "market/cell.hpp"
#include "market/keys.hpp"
#include "market/ledger.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

[[nodiscard]] std::vector<std::string> audit_market(wire& redis, const market_keys& keys, const cell& setting,
                                                    std::span<const ledger> ledgers);

}  // namespace tranca::bench
