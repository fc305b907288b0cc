#include "market/cell.hpp"

#include "market/audit.hpp"
#include "market/buyer.hpp"
#include "market/keys.hpp"
#include "market/lister.hpp"
#include "market/stock.hpp"
#include "market/trader.hpp"
#include "process/crew.hpp"
#include "process/shared_array.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {
namespace {

// A worker's own data connection serves its looks and its trades; locks have the library's connection beside it.
void trade(int user, const cell& setting, const endpoint& where, const market_keys& keys, ledger& book, baton& signs) {
    wire redis(where);
    const auto market = make_trader(setting.how, redis, where, keys);
    signs.arrive();
    if (setting.sells(user)) {
        lister(user, *market, redis, keys, book).work(signs);
    } else {
        buyer(user, *market, redis, keys, book).work(signs);
    }
}

ledger sum_of(std::span<const ledger> ledgers) {
    ledger total;
    for (const auto& book : ledgers) {
        total.made += book.made;
        total.listed += book.listed;
        total.bought += book.bought;
        total.retries += book.retries;
        total.wait.merge(book.wait);
    }
    return total;
}

// Removes the cell's keys whatever happens.
class market_keeper {
public:
    market_keeper(const endpoint& where, const market_keys& keys, const cell& setting)
        : redis_(where), keys_(keys), setting_(setting) {
        clear_market(redis_, keys_, setting_);
    }
    ~market_keeper() {
        try {
            clear_market(redis_, keys_, setting_);
        } catch (const std::runtime_error&) {
            // The server has gone, and the keys with it; what failed first is being reported already.
        }
    }
    market_keeper(const market_keeper&) = delete;
    market_keeper& operator=(const market_keeper&) = delete;

    wire& redis() { return redis_; }

private:
    wire redis_;
    const market_keys& keys_;
    const cell& setting_;
};

}  // namespace

cell_result run_cell(const cell& setting, const target& redis, const cell_run& how) {
    const auto& where = redis.usual_route().where;
    const market_keys keys(redis.prefix(), setting.users());
    shared_array<ledger> ledgers(static_cast<std::size_t>(setting.users()));
    market_keeper keeper(where, keys, setting);
    stock_market(keeper.redis(), keys, setting, ledgers.all());

    cell_result result{setting, 0, {}, {}};
    result.seconds = run_crew({
        .size = setting.users(),
        .length = std::chrono::duration<double>(how.seconds),
        .work =
            [&](int user, baton& signs) {
                trade(user, setting, where, keys, ledgers[static_cast<std::size_t>(user)], signs);
            },
        .where = how.workers,
        .tick = how.tick,
    });
    result.total = sum_of(ledgers.all());
    result.violations = audit_market(keeper.redis(), keys, setting, ledgers.all());
    return result;
}

}  // namespace tranca::bench
