#pragma once

// A sleep that a stop request cuts short.
//
//     if (!tranca::pause_until(next_try, stop, pool->closing())) return std::nullopt;    // stopped
//
// Promises: returns within a scheduling delay of the request. Counts on the steady clock.

#include <stop_token>

#include <tranca/time.hpp>

namespace tranca {

/// Sleeps until `when`. False: one of the tokens asked to stop. Thread-safe; no I/O.
[[nodiscard]] bool pause_until(clock::time_point when, const std::stop_token& stop, const std::stop_token& closing);

}  // namespace tranca
