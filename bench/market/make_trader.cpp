#include "market/locked_trader.hpp"
#include "market/script_trader.hpp"
#include "market/trader.hpp"
#include "market/watch_trader.hpp"

namespace tranca::bench {

std::unique_ptr<trader> make_trader(mode how, wire& redis, const endpoint& where, const market_keys& keys) {
    switch (how) {
    case mode::watch: return std::make_unique<watch_trader>(redis, keys);
    case mode::lock: return std::make_unique<locked_trader>(locked_trader::grain::market, redis, where, keys);
    case mode::fine: return std::make_unique<locked_trader>(locked_trader::grain::item, redis, where, keys);
    case mode::script: return std::make_unique<script_trader>(redis, keys);
    }
    return nullptr;
}

}  // namespace tranca::bench
