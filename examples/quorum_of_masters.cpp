// A lock that stands on several masters: a majority of them grants it.
//
//     quorum_of_masters [URL...]     or REDIS_URL; redis://localhost:6379 if neither is given
//
// With one URL it is a quorum of one, which is enough to see how it is used; give three, of three independent masters.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <tranca/tranca.hpp>

int main(int argc, char** argv) try {
    std::vector<tranca::client> masters;
    for (int i = 1; i < argc; ++i)
        masters.emplace_back(argv[i]);
    if (masters.empty()) {
        const char* const given = std::getenv("REDIS_URL");
        masters.emplace_back(given != nullptr ? given : "redis://localhost:6379");
    }

    const tranca::quorum_mutex report{std::span<const tranca::client>{masters}, "example:report"};
    const auto held = report.acquire();
    const auto votes = *tranca::quorum_mutex::votes_for(held);
    std::cout << "a majority granted it: " << (votes.granted_on > votes.nodes / 2 ? "yes" : "no") << '\n';
    std::cout << "and stored its fence: " << (votes.confirmed_on > votes.nodes / 2 ? "yes" : "no") << '\n';

    const tranca::quorum_mutex theirs{std::span<const tranca::client>{masters}, "example:report"};
    std::cout << "somebody else meanwhile: " << (theirs.try_acquire() ? "held" : "busy") << '\n';
    return EXIT_SUCCESS;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return EXIT_FAILURE;
}
