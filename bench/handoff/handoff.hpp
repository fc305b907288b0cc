#pragma once

// How long a lock takes from one holder to the next: two processes, over and over.
//
//     const auto taken = measure_handoff({.where = redis.over_tcp(), .key = "handoff", .make = ..., .seconds = 3});
//     taken.quantile(0.5);                          // nanoseconds
//
// The holder has the lock, the other process asks for it and waits; 20 ms later the holder releases. What counts is the
// time from just before it calls release() until the other has its guard: both read CLOCK_MONOTONIC, which is one clock
// for all processes of a machine.

#include <chrono>
#include <functional>
#include <string>

#include <tranca/client.hpp>
#include <tranca/guard.hpp>

#include "histogram/histogram.hpp"
#include "process/placement.hpp"

namespace tranca::bench {

/// For how long the holder holds, and for how long a connection rests before its round trip is timed.
inline constexpr std::chrono::milliseconds rest{20};

/// Waits for a lock as long as it takes.
using acquiring = std::function<guard()>;

/// How a process asks for the lock of that name; the client outlives what is made.
using lock_maker = std::function<acquiring(const client&, const std::string& name)>;

struct handoff_order {
    endpoint where;
    std::string name;  ///< Of the lock.
    lock_maker make;   ///< Not needed for a round trip.
    double seconds = 1;
    cores workers;                                     ///< Where they may run; empty: anywhere.
    std::function<void(double elapsed_seconds)> tick;  ///< May be empty.
};

/// Nanoseconds, one value for each hand-over. Throws worker_failed.
[[nodiscard]] histogram measure_handoff(const handoff_order& order);

/// Nanoseconds of a PING on a bare connection that rested for as long as a holder holds.
[[nodiscard]] histogram measure_round_trip(const handoff_order& order);

}  // namespace tranca::bench
