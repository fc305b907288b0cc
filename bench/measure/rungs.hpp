#pragma once

// The ladder as cycles of acquire and release: each rung by the library, and the same by hand.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/client.hpp>

#include "measure/block.hpp"
#include "raw/hand_written.hpp"

namespace tranca::bench {

struct rung {
    std::string_view name;  ///< Of the class.
    bool is_semaphore = false;
    /// Cycles on `name`, with room for `limit` holders where it is a semaphore. What is passed must outlive the cycle.
    std::function<cycle(const client&, const std::string& name, int limit)> by_library;
    std::function<cycle(hand_written&, const std::string& name, int limit)> by_hand;
};

/// All six, from the bottom.
[[nodiscard]] const std::vector<rung>& ladder_rungs();

/// Deletes what a rung may have left under a name: nothing, unless its process was killed.
void clear_rung(wire& redis, const std::string& name);

}  // namespace tranca::bench
