#pragma once

// The whole trade as one Lua script: one round trip, no lock, no retry. Redis runs a script alone, so this is the floor
// the other modes are seen against - and the right answer wherever everything that is touched lies on one Redis.

#include "market/trader.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {

class script_trader final : public trader {
public:
    script_trader(wire& redis, const market_keys& keys);

    outcome list(const std::string& item, int seller, int price) override;
    outcome buy(const offer& wanted, int buyer) override;

private:
    wire& redis_;
    const market_keys& keys_;
    std::string list_sha_;
    std::string buy_sha_;
};

}  // namespace tranca::bench
