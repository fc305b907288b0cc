// trial: one run of one cell, and what the checkers say of it.
//
//     const auto made = run(cells().front(), seed, 1500ms);
//     if (!made.is_as_expected) std::cout << made.found.front() << '\n';
//
// A seed fixes the faults, their order and the clients' choices; what the operating system does in between, it does not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "faults/cell.hpp"

namespace tranca::faults_test {

struct trial {
    std::string cell;
    std::uint64_t seed{0};
    bool is_as_expected{false};
    findings found{};
    std::string failure{};  // a server that died, a client that hung: then there is no history to judge
    std::map<std::string, std::size_t> by_checker{};
    totals sum{};
    milliseconds time{0};
    std::int64_t detected_ms{-1};  // from the clients' beginning to the first finding; -1: none
};

/// Faults for that long, then the clients end. Keeps the history in `keep` if that is not empty and the outcome was not
/// expected.
trial run(const cell& what, std::uint64_t seed, milliseconds time, const std::filesystem::path& keep = {});

/// One line for people, and one JSON object for the report.
[[nodiscard]] std::string text_of(const trial& made, const cell& what);
[[nodiscard]] std::string json_of(const trial& made, const cell& what);

}  // namespace tranca::faults_test
