#pragma once

// Holders of a ladder semaphore that sit there while others come and go.

#include <string>

#include "raw/wire.hpp"

namespace tranca::bench {

/// Writes them in the book's key layout, as entered just now: NAME, NAME:owner and NAME:counter.
void seat_holders(wire& redis, const std::string& name, int count);

}  // namespace tranca::bench
