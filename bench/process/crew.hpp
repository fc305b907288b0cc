#pragma once

// A number of worker processes that start together, work for some time and stop together.
//
//     const auto seconds = run_crew({.size = 10, .length = 5s, .work = [&](int index, baton& signs) {
//         wire redis(endpoint);
//         signs.arrive();
//         while (!signs.stopped()) { ... }
//     }});
//
// Each worker is a fork of the caller, which must not have started a thread. Results travel through shared memory that
// was mapped before. Promises: all workers have ended when it returns or throws; a worker that throws, crashes, is
// killed or does not come to an end fails the whole run with its reason. An interrupt ends the work early, not badly.

#include <chrono>
#include <functional>
#include <stdexcept>

#include "process/baton.hpp"
#include "process/placement.hpp"

namespace tranca::bench {

struct crew_order {
    int size = 1;
    std::chrono::duration<double> length{};  ///< Zero: until the workers come to an end by themselves.
    std::function<void(int index, baton& signs)> work;
    cores where;                                       ///< Empty: anywhere.
    std::function<void(double elapsed_seconds)> tick;  ///< Called a few times a second in the parent; may be empty.
};

struct worker_failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Seconds from go to stop. Throws worker_failed.
double run_crew(const crew_order& order);

}  // namespace tranca::bench
