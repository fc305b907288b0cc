#include "market/watch_trader.hpp"

#include "market/transfer.hpp"

namespace tranca::bench {

outcome watch_trader::list(const std::string& item, int seller, int price) {
    redis_.ask("WATCH", keys_.inventory(seller));
    if (redis_.ask("SISMEMBER", keys_.inventory(seller), item).integer() == 0) return give_up();
    return put_on_market(redis_, keys_, item, seller, price) ? outcome::done : outcome::retry;
}

outcome watch_trader::buy(const offer& wanted, int buyer) {
    redis_.ask("WATCH", keys_.market(), keys_.account(buyer));
    const auto member = fmt::format("{}.{}", wanted.item, wanted.seller);
    const auto price = whole_number(redis_.ask("ZSCORE", keys_.market(), member));
    const auto funds = whole_number(redis_.ask("HGET", keys_.account(buyer), "funds"));
    if (price < 0 || price > funds) return give_up();
    return hand_over(redis_, keys_, wanted, buyer, price) ? outcome::done : outcome::retry;
}

outcome watch_trader::give_up() {
    redis_.ask("UNWATCH");
    return outcome::gone;
}

}  // namespace tranca::bench
