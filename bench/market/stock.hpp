#pragma once

// The market before the first trade, and its end.

#include <span>

#include "market/cell.hpp"
#include "market/keys.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

inline constexpr int opening_stock = 1'000;                       // items on the market, shared out among the sellers
inline constexpr long long buyers_money = 1'000'000'000'000'000;  // more than can be spent

/// Accounts for all users and the opening stock; counts what it made in each seller's ledger.
void stock_market(wire& redis, const market_keys& keys, const cell& setting, std::span<ledger> ledgers);

/// Deletes the market's keys by name and nothing else.
void clear_market(wire& redis, const market_keys& keys, const cell& setting);

}  // namespace tranca::bench
