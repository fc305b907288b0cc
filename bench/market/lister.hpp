#pragma once

// A seller at work: takes the next item of its inventory and lists it, for ever; makes a new batch when none is left.

#include "market/keys.hpp"
#include "market/ledger.hpp"
#include "market/trader.hpp"
#include "process/baton.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

class lister {
public:
    lister(int user, trader& market, wire& redis, const market_keys& keys, ledger& book)
        : user_(user), market_(market), redis_(redis), keys_(keys), book_(book), next_(book.made) {}

    /// Until the stop sign.
    void work(const baton& signs);

private:
    void make_batch();

    int user_;
    trader& market_;
    wire& redis_;
    const market_keys& keys_;
    ledger& book_;
    std::uint64_t next_;  // serial of the next item to list; all below are listed, the rest up to made are not
};

}  // namespace tranca::bench
