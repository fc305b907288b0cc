// Many readers or one writer: a price that all tills read at once, and that one of them refreshes when it is missing.
//
//     price_list [URL]        or REDIS_URL; redis://localhost:6379 if neither is given

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <tranca/tranca.hpp>

using namespace std::chrono_literals;

namespace {

// The price, refreshed by the first who finds it missing. What a till does, here in a thread.
std::string price(tranca::client& redis, const tranca::shared_mutex& prices) {
    for (;;) {
        auto held = prices.shared().acquire();  // beside the other tills
        const auto known = redis.command("GET", "example:price");
        if (!known.is_nil()) return std::string{known.text()};

        // Still missing when it is the writer: nobody was in between.
        if (prices.try_upgrade_for(held, 5s) != tranca::upgrade_result::upgraded) continue;  // let go, and look again
        redis.command("SET", "example:price", "12.50");
        redis.command("INCR", "example:refreshes");
    }
}

void open_tills(const std::string& url, int count) {
    std::vector<std::jthread> tills;
    for (int i = 0; i < count; ++i)
        tills.emplace_back([&url] {
            tranca::client redis{url};
            if (price(redis, tranca::shared_mutex{redis, "example:prices"}) != "12.50") std::abort();
        });
}

}  // namespace

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    const std::string url = given != nullptr ? given : "redis://localhost:6379";
    tranca::client redis{url};
    redis.command("DEL", "example:price", "example:refreshes");

    open_tills(url, 5);
    std::cout << "five tills, refreshed " << redis.command("GET", "example:refreshes").text() << " time\n";

    const tranca::shared_mutex prices{redis, "example:prices"};
    auto writer = prices.acquire();
    std::cout << "beside a writer: " << (prices.shared().try_acquire() ? "a reader" : "nobody") << '\n';
    if (!prices.downgrade(writer)) throw tranca::lease_lost("the price list");
    const auto reader = prices.shared().acquire();
    std::cout << "with one fence for both: " << (writer.fence() == reader.fence() ? "a reader" : "nobody") << '\n';

    tranca::lockable list{prices};
    const std::shared_lock reading{list};
    list.require();
    std::cout << "readers now: " << prices.holders().size() << '\n';

    redis.command("DEL", "example:price", "example:refreshes");
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
