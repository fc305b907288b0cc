// seed: the one source of chance in the tests; printed at the start, repeatable.
//
//     std::mt19937_64 random{seed("kill worker")};       // a stream of its own for each purpose
//     // TRANCA_TEST_SEED=12345 repeats a run
//
// No test calls std::random_device itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace tranca::testing {

[[nodiscard]] std::uint64_t seed();
[[nodiscard]] std::uint64_t seed(std::string_view purpose);

}  // namespace tranca::testing
