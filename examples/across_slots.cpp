// Names of a Redis Cluster: where they lie, and how several are locked at once.
//
//     across_slots [URL]     or REDIS_URL; redis://localhost:6379 if neither is given
//
// Give the URL of a Cluster, redis-cluster://host1,host2,host3, to have the accounts lie on several nodes: it prints the same.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <tranca/tranca.hpp>

int main(int argc, char** argv) try {
    const char* const given = argc > 1 ? argv[1] : std::getenv("REDIS_URL");
    const tranca::client redis{given != nullptr ? given : "redis://localhost:6379"};

    const tranca::multi_mutex apart{redis, {"example:account:7", "example:account:9"}};
    const auto both = apart.acquire();  // on a Cluster slot by slot, holding nothing while it waits

    for (const std::string key :
         {"lock:example:account:7", "lock:example:account:9", "lock:{example:bank}:7", "lock:{example:bank}:9"})
        std::cout << key << " lies in slot " << tranca::hash_slot(key) << '\n';
    std::cout << "one of them alone: " << (tranca::mutex{redis, "example:account:9"}.try_acquire() ? "free" : "busy")
              << '\n';

    const tranca::multi_mutex together{redis, {"{example:bank}:7", "{example:bank}:9"}};
    const auto all = together.acquire();  // one hash tag, one slot, one step
    std::cout << "one fence for both: " << (all.fence() ? "yes" : "no") << '\n';
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
