// A transfer: both accounts are locked in one step, so there is no order to agree on, and no deadlock.
//
//     transfer_at_once [URL]        or REDIS_URL; redis://localhost:6379 if neither is given
//
// Money goes around in a ring of three, all at once.

#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <string>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

int funds(tranca::client& redis, const std::string& account) {
    return std::stoi(std::string{redis.command("GET", account).text()});
}

// False: not enough money, or the accounts were busy for too long.
bool transfer(tranca::client& redis, const std::string& from, const std::string& to, int amount) {
    const tranca::multi_mutex accounts{redis, {from, to}};
    const auto held = accounts.try_acquire_for(5s);
    if (!held || funds(redis, from) < amount) return false;
    if (!*held) throw tranca::lease_lost("transfer from " + from + " to " + to);  // right before the step that matters
    tranca::request steps{"DECRBY", from, amount};
    return !redis.pool()->borrow()->transaction(steps.add("INCRBY", to, amount)).is_nil();
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    const std::string ana = "example:account:ana", rui = "example:account:rui", eva = "example:account:eva";
    redis.command("MSET", ana, 100, rui, 100, eva, 100);

    const auto ten_times = [&](const std::string& from, const std::string& to) {
        int done = 0;
        while (done < 10 && transfer(redis, from, to, 7))
            ++done;
        return done;
    };
    auto second = std::async(std::launch::async, ten_times, rui, eva);
    auto third = std::async(std::launch::async, ten_times, eva, ana);
    const int first = ten_times(ana, rui);
    std::cout << first + second.get() + third.get() << " transfers\n";
    std::cout << "ana has " << funds(redis, ana) << ", rui has " << funds(redis, rui) << ", eva has "
              << funds(redis, eva) << '\n';

    redis.command("DEL", ana, rui, eva);
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
