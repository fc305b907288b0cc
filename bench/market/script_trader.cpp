#include "market/script_trader.hpp"

#include "lua_scripts.hpp"

namespace tranca::bench {
script_trader::script_trader(wire& redis, const market_keys& keys)
    : redis_(redis),
      keys_(keys),
      list_sha_(redis_.ask("SCRIPT", "LOAD", lua::list_item).text()),
      buy_sha_(redis_.ask("SCRIPT", "LOAD", lua::purchase_item).text()) {}

outcome script_trader::list(const std::string& item, int seller, int price) {
    const auto member = fmt::format("{}.{}", item, seller);
    const auto reply =
        redis_.ask("EVALSHA", list_sha_, 2, keys_.market(), keys_.inventory(seller), item, member, price);
    return reply.integer() == 1 ? outcome::done : outcome::gone;
}

outcome script_trader::buy(const offer& wanted, int buyer) {
    const auto member = fmt::format("{}.{}", wanted.item, wanted.seller);
    const auto reply = redis_.ask("EVALSHA", buy_sha_, 4, keys_.market(), keys_.account(buyer),
                                  keys_.account(wanted.seller), keys_.inventory(buyer), wanted.item, member);
    return reply.integer() == 1 ? outcome::done : outcome::gone;
}

}  // namespace tranca::bench
