#include "market/stock.hpp"

namespace tranca::bench {

void stock_market(wire& redis, const market_keys& keys, const cell& setting, std::span<ledger> ledgers) {
    for (int user = 0; user < setting.users(); ++user) {
        redis.ask("HSET", keys.account(user), "funds", setting.sells(user) ? 0 : buyers_money);
    }
    for (int i = 0; i < opening_stock; ++i) {
        const int seller = i % setting.listers;
        const item piece{ledgers[static_cast<std::size_t>(seller)].made++, seller};
        redis.send("ZADD", keys.market(), 1 + i % 100, piece.offered_by(seller));
    }
    for (int i = 0; i < opening_stock; ++i)
        redis.next();
}

void clear_market(wire& redis, const market_keys& keys, const cell& setting) {
    redis.ask("UNLINK", keys.market());
    for (int user = 0; user < setting.users(); ++user)
        redis.ask("UNLINK", keys.account(user), keys.inventory(user));
}

}  // namespace tranca::bench
