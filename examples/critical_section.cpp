// One at a time: a read and a write that nobody may come between.
//
//     critical_section [URL]        or REDIS_URL; redis://localhost:6379 if neither is given
//
// Three shops sell from one stock. Without the lock two of them can read the same number and sell the same piece twice.

#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <string>
#include <thread>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

constexpr int pieces_at_first = 30;

// What each shop runs, here in a thread, usually on a machine of its own. Returns how many pieces it sold.
int sell_out(const std::string& url) {
    tranca::client redis{url};
    tranca::ladder::px_lock lock{redis, "example:stock", {.lease = {.ttl = 10s}}};

    for (int sold = 0;; ++sold) {
        auto held = lock.try_acquire_for(30s);
        if (!held) return sold;  // busy all the time: a value, not an exception

        const int pieces = std::stoi(std::string{redis.command("GET", "example:stock").text()});
        if (pieces == 0) return sold;
        if (!*held) throw tranca::lease_lost("too slow; nothing was sold");  // before the step that matters
        redis.command("SET", "example:stock", pieces - 1);
        held->release();  // or at the end of the scope

        std::this_thread::sleep_for(1ms);  // hands over what was sold
    }
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    const std::string url = given != nullptr ? given : "redis://localhost:6379";
    tranca::client redis{url};
    redis.command("SET", "example:stock", pieces_at_first);

    auto north = std::async(std::launch::async, sell_out, url);
    auto south = std::async(std::launch::async, sell_out, url);
    const int sold = sell_out(url) + north.get() + south.get();

    std::cout << "in stock " << pieces_at_first << ", sold " << sold << '\n';
    redis.command("DEL", "example:stock");
    return sold == pieces_at_first ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
