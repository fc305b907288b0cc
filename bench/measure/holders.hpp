#pragma once

// Holders of a semaphore that sit there while others come and go.

#include <string>

#include "raw/wire.hpp"

namespace tranca::bench {

/// Writes them in the book's key layout, as entered just now: NAME, NAME:owner and NAME:counter.
void seat_holders(wire& redis, const std::string& name, int count);

/// The same for tranca::semaphore with that main key and a limit of one more; each holds for a day.
void seat_permit_holders(wire& redis, const std::string& main_key, int count);

}  // namespace tranca::bench
