#pragma once

// One cell of the book's tables: so many listers and buyers, trading in one mode for some seconds on a fresh market.
//
// Users 0 .. listers-1 sell, the next ones buy. The work never runs out: a seller whose inventory is empty makes new
// items, buyers start with more money than they can spend. The market starts with a small stock, so that a buyer has a
// choice from the first moment, and is not bounded: as in the book, sellers never wait for buyers.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "market/ledger.hpp"
#include "market/mode.hpp"
#include "process/placement.hpp"
#include "server/target.hpp"

namespace tranca::bench {

struct cell {
    int listers = 1;
    int buyers = 1;
    mode how = mode::watch;

    [[nodiscard]] int users() const noexcept { return listers + buyers; }
    [[nodiscard]] bool sells(int user) const noexcept { return user < listers; }
};

struct cell_result {
    cell setting;
    double seconds = 0;
    ledger total;
    std::vector<std::string> violations;  ///< Of the invariants; must be empty.
};

struct cell_run {
    double seconds = 1;
    cores workers;                                     ///< Where they may run; empty: anywhere.
    std::function<void(double elapsed_seconds)> tick;  ///< May be empty.
};

/// Stocks the market, lets the workers trade, audits it and removes its keys. Throws worker_failed.
cell_result run_cell(const cell& setting, const target& redis, const cell_run& how);

}  // namespace tranca::bench
