// A slot kept by hand: the work loop extends it, and stops when it is lost. streaming_slot leaves that to tranca::semaphore.
//
//     ladder_streaming_slot [URL]        or REDIS_URL; redis://localhost:6379 if neither is given

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

constexpr auto ttl = 2s;  // a stream that crashes gives its slot back after that

// Asks for the whole ttl again. False: lost, somebody else may have the slot.
bool keep(tranca::guard& slot) {
    try {
        return slot.extend();
    } catch (const tranca::error&) {
        return static_cast<bool>(slot);  // no answer: the lease runs on as it was
    }
}

// Sends chunks while it has the slot; returns how many.
int stream(tranca::guard& slot, int chunks) {
    for (int sent = 0; sent < chunks; ++sent) {
        const bool ours = sent % 5 == 0 ? keep(slot) : static_cast<bool>(slot);  // asks four times in a ttl
        if (!ours) return sent;
        std::this_thread::sleep_for(100ms);  // sends a chunk
    }
    return chunks;
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    const tranca::ladder::guarded_semaphore streams{redis, "example:streams", 2, {.lease = {.ttl = ttl}}};

    auto film = streams.acquire();
    std::cout << "film: " << stream(film, 25) << " chunks of 25, longer than the ttl\n";

    auto match = streams.acquire();
    std::cout << "match: " << stream(match, 5) << " chunks of 10\n";
    redis.command("DEL", "example:streams");  // an operator throws everybody out
    std::cout << "match: " << stream(match, 5) << " more, its slot is lost\n";

    redis.command("DEL", "example:streams:owner", "example:streams:counter");
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
