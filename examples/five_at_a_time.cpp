// A cap: at most five lines in use for one account. A call takes one, a conference three; who finds too few is told at once.
//
//     five_at_a_time [URL]        or REDIS_URL; redis://localhost:6379 if neither is given

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <tranca/tranca.hpp>

namespace {

// Puts one through, if there is room.
void put_through(const tranca::semaphore& lines, const std::string& who, std::vector<tranca::guard>& running) {
    auto place = lines.try_acquire();
    std::cout << who << (place ? ": put through on line" : ": refused");
    if (place) {
        for (const auto number : place->slots())
            std::cout << ' ' << number;
        running.push_back(std::move(*place));
    }
    std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    const tranca::semaphore calls{redis, "example:calls:acme", 5};
    const tranca::semaphore conferences = calls.weighted(3);

    std::vector<tranca::guard> running;
    for (int call = 1; call <= 3; ++call)
        put_through(calls, "call " + std::to_string(call), running);
    put_through(conferences, "conference", running);  // two lines are free
    running.pop_back();                               // one hangs up: its guard gives the line back
    put_through(conferences, "conference", running);
    put_through(calls, "call 4", running);
    std::cout << "free: " << calls.available() << '\n';

    running.clear();
    redis.command("DEL", "{semaphore:example:calls:acme}:state");  // it would go by itself in a day or two
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
