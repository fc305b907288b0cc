#pragma once

// One process that holds many locks at once and does nothing but have them renewed.
//
//     const auto found = run_vigil({.guards = 10'000, .ttl = 3s}, redis, {});
//
// Each guard is held for three and a half renewals, which the library makes by itself. A figure of what is left of the
// leases is taken every few milliseconds: the least of it says how near any lease came to its end.
// The whole process is a child made for this, so its threads and its connections are those the locks need.

#include <chrono>
#include <cstdint>
#include <functional>

#include "process/placement.hpp"
#include "server/target.hpp"

namespace tranca::bench {

struct vigil {
    int guards = 0;
    std::chrono::milliseconds ttl{};
};

/// From the last acquisition to the end: the third renewal of every guard is done by then, with half a period to spare.
[[nodiscard]] constexpr std::chrono::milliseconds length_of(const vigil& setting) noexcept {
    return setting.ttl * 7 / 6;
}

struct vigil_result {
    vigil setting{};
    double seconds = 0;  ///< From the last acquisition to the end.
    int threads = 0;
    int connections = 0;
    std::uint64_t renewals = 0;
    std::uint64_t lost = 0;      ///< Told by the library as lost, or not ours any more when they were released.
    std::uint64_t missed = 0;    ///< Guards that did not hold at the end.
    double least_left_ms = 0;    ///< Of any lease, at any moment; below zero: it was over.
    double processor_share = 0;  ///< Of one core, for all renewals together.
};

struct vigil_run {
    cores workers{};                                     ///< Where the process may run; empty: anywhere.
    std::function<void(double elapsed_seconds)> tick{};  ///< May be empty.
};

/// Removes the keys afterwards. Throws worker_failed.
[[nodiscard]] vigil_result run_vigil(const vigil& setting, const target& redis, const vigil_run& how);

}  // namespace tranca::bench
