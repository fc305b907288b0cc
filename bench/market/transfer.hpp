#pragma once

// The two transactions every mode but `script` ends in, as one pipeline of MULTI ... EXEC.

#include <string>

#include "market/keys.hpp"
#include "market/trader.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

/// Inventory -> market. False: EXEC was refused because a watched key had been touched.
inline bool put_on_market(wire& redis, const market_keys& keys, const std::string& item, int seller, int price) {
    redis.send("MULTI");
    redis.send("ZADD", keys.market(), price, fmt::format("{}.{}", item, seller));
    redis.send("SREM", keys.inventory(seller), item);
    redis.send("EXEC");
    for (int i = 0; i < 3; ++i)
        redis.next();
    return !redis.next().is_nil();
}

/// Market -> the buyer's inventory, and the price from the buyer to the seller. False: as above.
inline bool hand_over(wire& redis, const market_keys& keys, const offer& wanted, int buyer, long long price) {
    redis.send("MULTI");
    redis.send("HINCRBY", keys.account(wanted.seller), "funds", price);
    redis.send("HINCRBY", keys.account(buyer), "funds", -price);
    redis.send("SADD", keys.inventory(buyer), wanted.item);
    redis.send("ZREM", keys.market(), fmt::format("{}.{}", wanted.item, wanted.seller));
    redis.send("EXEC");
    for (int i = 0; i < 5; ++i)
        redis.next();
    return !redis.next().is_nil();
}

/// A score or a field as a whole number; -1 for nil.
inline long long whole_number(const answer& reply) {
    return reply.is_nil() ? -1 : std::stoll(std::string(reply.text()));
}

}  // namespace tranca::bench
