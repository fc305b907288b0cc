#pragma once

// A buyer at work: looks at the market, wants one of the items there, tries until it has it, for ever.
//
// It picks a random item (ZRANDMEMBER, Redis 6.2), so that buyers rarely want the same one. Its wait begins when it has
// seen an item it wants and ends when it owns one; if somebody else was quicker it chooses another and goes on waiting.
// Looking at an empty market is not waiting.

#include <optional>

#include "market/keys.hpp"
#include "market/ledger.hpp"
#include "market/trader.hpp"
#include "process/baton.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

class buyer {
public:
    buyer(int user, trader& market, wire& redis, const market_keys& keys, ledger& book)
        : user_(user), market_(market), redis_(redis), keys_(keys), book_(book) {}

    /// Until the stop sign.
    void work(const baton& signs);

private:
    [[nodiscard]] std::optional<offer> look();
    void acquire(offer wanted, const baton& signs);

    int user_;
    trader& market_;
    wire& redis_;
    const market_keys& keys_;
    ledger& book_;
};

}  // namespace tranca::bench
