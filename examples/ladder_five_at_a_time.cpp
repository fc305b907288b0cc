// A cap as the book has it: at most five calls at a time. five_at_a_time does the same in one step, with tranca::semaphore.
//
//     ladder_five_at_a_time [URL]        or REDIS_URL; redis://localhost:6379 if neither is given

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;
using tranca::ladder::guarded_semaphore;

namespace {

// A slot, or nothing when all five are taken.
std::optional<tranca::guard> enter(const guarded_semaphore& calls) {
    for (;;) {
        auto outcome = calls.try_enter();
        if (auto* const slot = std::get_if<tranca::guard>(&outcome)) return std::move(*slot);
        if (std::get<guarded_semaphore::refusal>(outcome) == guarded_semaphore::refusal::full) return std::nullopt;
        // Others were at the entrance for 10 ms; a slot may be free: ask again.
    }
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    const guarded_semaphore calls{redis, "example:calls:acme", 5, {.lease = {.ttl = 10s}}};

    std::vector<tranca::guard> running;
    for (int call = 1; call <= 9; ++call) {
        if (call == 8) running.pop_back();  // one hangs up: its guard gives the slot back
        auto slot = enter(calls);
        std::cout << "call " << call << (slot ? ": put through\n" : ": refused, five are running\n");
        if (slot) running.push_back(std::move(*slot));
    }

    running.clear();
    redis.command("DEL", "example:calls:acme:counter");  // the rung leaves its counter behind, one a name
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
