// The standard's own guards: std::scoped_lock over two locks, and require() before the step that matters.
//
//     std_scoped_lock [URL]        or REDIS_URL; redis://localhost:6379 if neither is given
//
// std::scoped_lock cannot tell that a lease ran out while it was held. require() can.

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <mutex>
#include <thread>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;
using redis_lock = tranca::lockable<tranca::ladder::px_lock>;

namespace {

// Sells one piece; throws lease_lost, before anything is sold, if the work took longer than the ttl.
void sell(tranca::client& redis, redis_lock& stock, redis_lock& till, std::chrono::milliseconds work) {
    const std::scoped_lock both{stock, till};
    std::this_thread::sleep_for(work);

    stock.require();
    till.require();
    redis.command("DECR", "example:stock");
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};
    redis_lock stock{tranca::ladder::px_lock{redis, "example:stock", {.lease = {.ttl = 1s}}}};
    redis_lock till{tranca::ladder::px_lock{redis, "example:till", {.lease = {.ttl = 1s}}}};
    redis.command("SET", "example:stock", 2);

    sell(redis, stock, till, 1ms);
    std::cout << "sold, " << redis.command("GET", "example:stock").text() << " left\n";
    try {
        sell(redis, stock, till, 1200ms);
    } catch (const tranca::lease_lost&) {
        std::cout << "too slow, still " << redis.command("GET", "example:stock").text() << " left\n";
    }
    if (till.last_release() == tranca::release_result::expired) std::cout << "its locks had expired before\n";

    redis.command("DEL", "example:stock");
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
