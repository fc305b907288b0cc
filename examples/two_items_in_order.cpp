// Two locks without deadlock: everybody takes them in the same order.
//
//     two_items_in_order [URL]        or REDIS_URL; redis://localhost:6379 if neither is given
//
// Money goes both ways at once. If each side locked its own account first, both would wait for the other's.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

tranca::ladder::px_lock lock_of(const tranca::client& redis, const std::string& account) {
    return {redis, account, {.lease = {.ttl = 10s}}};
}

int funds(tranca::client& redis, const std::string& account) {
    return std::stoi(std::string{redis.command("GET", account).text()});
}

// False: not enough money, or the accounts were busy for too long.
bool transfer(tranca::client& redis, const std::string& from, const std::string& to, int amount) {
    if (from == to) throw std::invalid_argument("a lock cannot be taken twice");
    const auto& [lower, upper] = std::minmax(from, to);  // any order will do, if it is everybody's
    const auto first = lock_of(redis, lower).try_acquire_for(5s);
    if (!first) return false;
    const auto second = lock_of(redis, upper).try_acquire_for(5s);
    if (!second || funds(redis, from) < amount) return false;

    // The first lease has run on while the second lock was waited for: look at both.
    if (!*first || !*second) throw tranca::lease_lost("transfer from " + from + " to " + to);
    tranca::request steps{"DECRBY", from, amount};
    return !redis.pool()->borrow()->transaction(steps.add("INCRBY", to, amount)).is_nil();
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    const std::string ana = "example:account:ana", rui = "example:account:rui";
    redis.command("MSET", ana, 100, rui, 100);

    const auto transfer_ten_times = [&](const std::string& from, const std::string& to) {
        int done = 0;
        while (done < 10 && transfer(redis, from, to, 7))
            ++done;
        return done;
    };
    auto back = std::async(std::launch::async, transfer_ten_times, rui, ana);
    const int there = transfer_ten_times(ana, rui);
    std::cout << there << " transfers there, " << back.get() << " back\n";
    std::cout << "ana has " << funds(redis, ana) << ", rui has " << funds(redis, rui) << '\n';

    redis.command("DEL", ana, rui);
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
