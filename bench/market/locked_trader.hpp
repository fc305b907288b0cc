#pragma once

// Pessimistic: the trade under a px_lock of the library, held for three round trips at most. One class for both of the
// book's grains: they differ by nothing but the lock's name.
//
//     lock   one lock for the market, "market:"               (listing 6.9, table 6.2)
//     fine   one lock for each item, "market:ITEM.OWNER"      (table 6.3)
//
// Sellers take the lock as well, as in the book's figures. Waiting is the book's: try again every millisecond, for at
// most 10 s; not to get it in that time is the only retry there is. The market's own commands go through a raw
// connection, as in a program that keeps its own Redis client and takes only its locks from the library.
//
// With a lock an item each buyer's check of its funds is safe only because a buyer does one purchase at a time.

#include <tranca/client.hpp>
#include <tranca/ladder/px_lock.hpp>

#include "market/trader.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

class locked_trader final : public trader {
public:
    enum class grain { market, item };

    locked_trader(grain size, wire& redis, const endpoint& where, const market_keys& keys);

    outcome list(const std::string& item, int seller, int price) override;
    outcome buy(const offer& wanted, int buyer) override;

private:
    [[nodiscard]] ladder::px_lock lock_for(std::string_view member);

    grain grain_;
    wire& redis_;
    client locks_;
    const market_keys& keys_;
};

}  // namespace tranca::bench
