#pragma once

// One lock and many who want it: each acquires, does nothing and releases, over and over.
//
//     const auto found = run_contest({"mutex", 16, worker_kind::process}, redis, {.seconds = 2});
//
// A worker is a process with a client of its own, or a thread of one process whose threads share a client. The raw lock is
// hand-written: SET NX PX every millisecond until it is granted; there each worker has its own connection.
// Promises: each worker has acquired before the time begins, so that nothing is connected or loaded within it. What is
// granted after the time is over counts for the commands and the waits, not for the rate: it came without competition.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "histogram/histogram.hpp"
#include "process/placement.hpp"
#include "server/target.hpp"

namespace tranca::bench {

enum class worker_kind { process, thread };

[[nodiscard]] constexpr std::string_view name_of(worker_kind kind) noexcept {
    return kind == worker_kind::process ? "process" : "thread";
}

struct contest {
    std::string primitive;  ///< See make_player().
    int workers = 2;
    worker_kind kind = worker_kind::process;
};

struct contest_result {
    contest setting;
    double seconds = 0;
    std::uint64_t acquisitions = 0;   ///< Of all workers within the time.
    std::uint64_t fewest = 0;         ///< Of one worker.
    std::uint64_t most = 0;           ///< Of one worker.
    double commands_per_acquire = 0;  ///< That the server read.
    histogram wait{};                 ///< Nanoseconds.
    double longest_wait_us = 0;
    std::uint64_t overlaps = 0;  ///< Acquisitions while somebody else held it; must be none.
};

struct contest_run {
    double seconds = 1;
    cores workers{};                                     ///< Where they may run; empty: anywhere.
    std::function<void(double elapsed_seconds)> tick{};  ///< May be empty.
};

/// Removes the lock's keys afterwards. Throws worker_failed.
[[nodiscard]] contest_result run_contest(const contest& setting, const target& redis, const contest_run& how);

}  // namespace tranca::bench
