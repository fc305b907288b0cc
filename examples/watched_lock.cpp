// Counters for everything that happens to locks, and a loss that is told while the work runs.
//
//     watched_lock [URL]         or REDIS_URL; redis://localhost:6379 if neither is given

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <stop_token>
#include <thread>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

// Works until done or until the lock is lost; returns whether it got to the end.
bool work(const tranca::guard& held, std::chrono::milliseconds length) {
    const std::stop_token lost = held.lost();
    const auto end = tranca::clock::now() + length;
    while (tranca::clock::now() < end && !lost.stop_requested())
        std::this_thread::sleep_for(1ms);
    return !lost.stop_requested();
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    auto numbers = std::make_shared<tranca::counters>();
    tranca::client redis{given != nullptr ? given : "redis://localhost:6379", {.sink = numbers}};
    const tranca::mutex report{redis, "example:report", {.lease = {.ttl = 300ms}}};

    {
        const auto held = report.acquire();
        std::cout << "longer than the ttl, renewed meanwhile: " << (work(held, 800ms) ? "done" : "lost") << '\n';
    }
    {
        const auto held = report.acquire();
        report.force_release();  // what an operator may do
        std::cout << "taken away: " << (work(held, 10s) ? "done" : "lost") << '\n';
    }

    using kind = tranca::event::kind;
    std::cout << "acquired " << numbers->count(kind::acquired) << ", lost " << numbers->count(kind::lease_lost) << '\n';
    std::cout << "renewed: " << (numbers->count(kind::renewed) >= 2 ? "several times" : "too rarely") << '\n';
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
