// The mutex, and a fencing number that the resource checks: a holder that slept past its lease cannot write any more.
//
//     fenced_ledger [URL]        or REDIS_URL; redis://localhost:6379 if neither is given
//
// The one that sleeps is this thread; who takes over is another client, as on another machine.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

// Adds to a total, unless a newer holder of the lock has read or written it.
bool add(const tranca::client& redis, std::uint64_t fence, int amount) {
    const auto found = tranca::fenced_read(redis, "example:ledger", fence);
    if (found.refused) return false;
    const int total = std::stoi(found.value.value_or("0")) + amount;
    return tranca::fenced_write(redis, "example:ledger", fence, std::to_string(total));
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    const std::string url = given != nullptr ? given : "redis://localhost:6379";
    tranca::client here{url};
    tranca::client elsewhere{url};
    here.command("DEL", "example:ledger");

    // Never renewed, so that it is lost when this thread sleeps; by default it would be, every ttl / 3.
    const tranca::mutex mine{here, "example:ledger", {.lease = {.ttl = 200ms, .renew_every = 0ms}, .label = "sleeper"}};
    const tranca::mutex theirs{elsewhere, "example:ledger", {.label = "successor"}};

    auto sleeper = mine.acquire();
    std::cout << "held by " << mine.inspect().label << '\n';
    std::cout << "first write: " << (add(here, *sleeper.fence(), 1) ? "done" : "refused") << '\n';

    auto successor = theirs.acquire();  // waits, without polling, until the sleeper's lease has ended
    std::cout << "held by " << theirs.inspect().label << '\n';
    std::cout << "the fence grew: " << (*successor.fence() > *sleeper.fence() ? "yes" : "no") << '\n';
    std::cout << "successor's write: " << (add(elsewhere, *successor.fence(), 10) ? "done" : "refused") << '\n';

    std::cout << "sleeper believes it holds: " << (sleeper ? "yes" : "no") << '\n';
    std::cout << "sleeper's late write: " << (add(here, *sleeper.fence(), 1) ? "done" : "refused") << '\n';

    here.command("DEL", "example:ledger");
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
