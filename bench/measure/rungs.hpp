#pragma once

// The ladder and the mutex as cycles of acquire and release: by the library, and by hand.
//
//     for (const auto& what : ladder_rungs()) duel(what.by_hand(hand, key, 5), what.by_library(redis, key, 5), 1, signs);

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

/// All six, from the bottom; by hand the same commands.
[[nodiscard]] const std::vector<rung>& ladder_rungs();

/// tranca::mutex with and without its fence and its wait for a release's answer; by hand what px_lock sends.
[[nodiscard]] const std::vector<rung>& mutex_rungs();

/// tranca::shared_mutex from both sides; by hand what px_lock sends. tranca::multi_mutex with two names; by hand two px_locks.
[[nodiscard]] const std::vector<rung>& shared_rungs();

/// tranca::semaphore; by hand a script that expires, counts and inserts, and ZREM.
[[nodiscard]] const rung& semaphore_rung();

/// Deletes what a rung may have left under a name: nothing, unless its process was killed.
void clear_rung(wire& redis, const std::string& name);

/// The same for a lock of that main key, of whatever kind.
void clear_lock(wire& redis, const std::string& main_key);

/// The same for tranca::semaphore.
void clear_semaphore(wire& redis, const std::string& main_key);

}  // namespace tranca::bench
