#include "support/seed.hpp"

#include <cstdlib>
#include <random>
#include <string>

namespace tranca::testing {

std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const char* const chosen = std::getenv("TRANCA_TEST_SEED");
        return chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device{}();
    }();
    return value;
}

std::uint64_t seed(std::string_view purpose) {
    std::uint64_t mixed = seed() ^ 0xcbf29ce484222325U;  // FNV-1a: the same on every machine
    for (const char c : purpose) {
        mixed = (mixed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return mixed;
}

}  // namespace tranca::testing
