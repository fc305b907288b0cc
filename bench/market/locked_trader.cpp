#include "market/locked_trader.hpp"

#include <chrono>
#include <stdexcept>

#include "market/transfer.hpp"

namespace tranca::bench {
namespace {

constexpr std::chrono::seconds patience{10};  // the book's time-out of acquire_lock

// A lock that ran out during a trade of microseconds means the figures are worth nothing.
void let_go(guard& held) {
    if (held.release() != release_result::released)
        throw std::runtime_error("a lock was lost in the middle of a trade");
}

}  // namespace

locked_trader::locked_trader(grain size, wire& redis, const endpoint& where, const market_keys& keys)
    : grain_(size), redis_(redis), locks_(where), keys_(keys) {}

outcome locked_trader::list(const std::string& item, int seller, int price) {
    auto held = lock_for(fmt::format("{}.{}", item, seller)).try_acquire_for(patience);
    if (!held) return outcome::retry;
    const bool owned = redis_.ask("SISMEMBER", keys_.inventory(seller), item).integer() != 0;
    if (owned) put_on_market(redis_, keys_, item, seller, price);
    let_go(*held);
    return owned ? outcome::done : outcome::gone;
}

outcome locked_trader::buy(const offer& wanted, int buyer) {
    const auto member = fmt::format("{}.{}", wanted.item, wanted.seller);
    auto held = lock_for(member).try_acquire_for(patience);
    if (!held) return outcome::retry;
    redis_.send("ZSCORE", keys_.market(), member);
    redis_.send("HGET", keys_.account(buyer), "funds");
    const auto price = whole_number(redis_.next());
    const auto funds = whole_number(redis_.next());
    const bool possible = price >= 0 && price <= funds;
    if (possible) hand_over(redis_, keys_, wanted, buyer, price);
    let_go(*held);
    return possible ? outcome::done : outcome::gone;
}

ladder::px_lock locked_trader::lock_for(std::string_view member) {
    const auto name = grain_ == grain::market ? std::string("market:") : fmt::format("market:{}", member);
    ladder::lock_options options;
    options.prefix = keys_.lock_prefix();
    return {locks_, name, options};
}

}  // namespace tranca::bench
