// The book's market: one listing and one purchase, under a lock for that item alone.
//
//     marketplace [URL]        or REDIS_URL; redis://localhost:6379 if neither is given
//
// The lock is the item's, not the buyer's: one who buys two things at once needs his account locked too; see
// two_items_in_order.

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

const std::string market = "example:market";

std::string inventory(const std::string& user) { return "example:inventory:" + user; }
std::string account(const std::string& user) { return "example:user:" + user; }

// Fine-grained: who trades another item does not wait.
tranca::ladder::px_lock lock_of(const tranca::client& redis, const std::string& offer) {
    return {redis, market + ":" + offer, {.lease = {.ttl = 10s}}};
}

int number(const tranca::reply& answer) { return answer.is_nil() ? -1 : std::stoi(std::string{answer.text()}); }

bool list_item(tranca::client& redis, const std::string& item, const std::string& seller, int price) {
    const std::string offer = item + "." + seller;
    return tranca::with(lock_of(redis, offer), [&](const tranca::guard& held) {
        if (redis.command("SISMEMBER", inventory(seller), item).integer() == 0) return false;
        if (!held) throw tranca::lease_lost("listing " + offer);
        tranca::request steps{"ZADD", market, price, offer};
        return !redis.pool()->borrow()->transaction(steps.add("SREM", inventory(seller), item)).is_nil();
    });
}

bool buy_item(tranca::client& redis, const std::string& buyer, const std::string& item, const std::string& seller) {
    const std::string offer = item + "." + seller;
    const auto held = lock_of(redis, offer).try_acquire_for(10s);
    if (!held) return false;

    const int price = number(redis.command("ZSCORE", market, offer));
    if (price < 0 || price > number(redis.command("HGET", account(buyer), "funds"))) return false;
    if (!*held) throw tranca::lease_lost("buying " + offer);
    tranca::request steps{"HINCRBY", account(seller), "funds", price};
    steps.add("HINCRBY", account(buyer), "funds", -price);
    steps.add("SADD", inventory(buyer), item).add("ZREM", market, offer);
    return !redis.pool()->borrow()->transaction(steps).is_nil();
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    redis.command("SADD", inventory("frank"), "lamp");
    redis.command("HSET", account("frank"), "funds", 43);
    redis.command("HSET", account("bill"), "funds", 125);

    std::cout << std::boolalpha << "frank lists his lamp: " << list_item(redis, "lamp", "frank", 97) << '\n';
    std::cout << "bill buys it: " << buy_item(redis, "bill", "lamp", "frank") << '\n';
    std::cout << "bill buys it again: " << buy_item(redis, "bill", "lamp", "frank") << '\n';
    for (const auto* const user : {"frank", "bill"})
        std::cout << user << " has " << number(redis.command("HGET", account(user), "funds")) << " in cash and "
                  << redis.command("SCARD", inventory(user)).integer() << " in the inventory\n";

    redis.command("DEL", market, inventory("frank"), inventory("bill"), account("frank"), account("bill"));
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
