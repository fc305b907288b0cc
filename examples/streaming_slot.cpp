// A slot for as long as the work lasts: it is renewed behind the scenes, and the work stops when it is lost all the same.
//
//     streaming_slot [URL]        or REDIS_URL; redis://localhost:6379 if neither is given

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

// Sends chunks while it has the slot; returns how many.
int stream(const tranca::guard& slot, int chunks) {
    for (int sent = 0; sent < chunks; ++sent) {
        if (!slot) return sent;
        std::this_thread::sleep_for(100ms);  // sends a chunk
    }
    return chunks;
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    // A stream that crashes gives its slot back after the ttl; one that runs keeps it, renewed three times as often.
    const tranca::semaphore streams{redis, "example:streams", 2, {.lease = {.ttl = 1s}}};

    const auto film = streams.acquire();
    std::cout << "film: " << stream(film, 25) << " chunks of 25, longer than the ttl\n";

    const auto match = streams.acquire();
    std::cout << "match: " << stream(match, 5) << " chunks of 5\n";
    redis.command("DEL", "semaphore:example:streams");  // an operator throws everybody out
    std::cout << "match: " << (stream(match, 25) < 25 ? "stopped" : "went on") << ", its slot is lost\n";

    redis.command("DEL", "{semaphore:example:streams}:state");
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
