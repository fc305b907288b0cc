#pragma once

// How one worker lists and buys: the step that differs between the modes. One attempt a call, so that the worker's loop
// counts retries and looks at its stop sign between them.

#include <memory>
#include <string>

#include <tranca/endpoint.hpp>

#include "market/keys.hpp"
#include "market/mode.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

/// Something that stands on the market: what a buyer saw when it chose.
struct offer {
    std::string item;
    int seller = 0;
};

enum class outcome {
    done,   ///< listed, or bought
    gone,   ///< not on the market (any more), or not in the inventory
    retry,  ///< somebody interfered (WATCH), or the lock was not to be had in time
};

class trader {
public:
    virtual ~trader() = default;

    /// Puts an item from the seller's inventory on the market.
    virtual outcome list(const std::string& item, int seller, int price) = 0;

    /// Pays the seller and moves the item from the market into the buyer's inventory.
    virtual outcome buy(const offer& wanted, int buyer) = 0;
};

/// Trades over the worker's connection, which must outlive it; what takes locks connects to `where` once more.
std::unique_ptr<trader> make_trader(mode how, wire& redis, const endpoint& where, const market_keys& keys);

}  // namespace tranca::bench
