#pragma once

// Optimistic: WATCH what the trade depends on, look at it, MULTI/EXEC; EXEC does nothing if it was touched meanwhile.
// The commands and round trips of a purchase are those of the book's listing 4.6 (each question travels alone, the
// transaction as one pipeline). All buyers watch the one market key, which every listing touches: that is the collapse
// table 6.1 shows.

#include "market/trader.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

class watch_trader final : public trader {
public:
    watch_trader(wire& redis, const market_keys& keys) : redis_(redis), keys_(keys) {}

    outcome list(const std::string& item, int seller, int price) override;
    outcome buy(const offer& wanted, int buyer) override;

private:
    outcome give_up();

    wire& redis_;
    const market_keys& keys_;
};

}  // namespace tranca::bench
