// leases: where on the server a scenario's leases lie, and how one of them ends there without anybody's waiting for it.
//
//     leases held{.locks = {"lock:thing"}, .permits = {"semaphore:calls"}};
//     held.end_first(raw, 60s);                        // the tokens of those whose time is over now
//
// Time is moved on the server alone: a key, or a holder's place in a set, is brought to its end. The clients' own clocks
// stand; that a holder would know of its end by its own clock is what the schedule accounts for (see schedule.hpp).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "support/raw_client.hpp"

namespace tranca::interleave {

struct leases {
    std::vector<std::string> locks{};    // keys that hold an owner's token and have a ttl
    std::vector<std::string> permits{};  // sorted sets of tokens by the end of each
    std::vector<std::string> readers{};  // the hashes of readers/writer locks
    std::vector<std::string> claims{};   // the hashes in which waiters say that they keep others out

    // Brings those to an end that have no longer than this to live: every lock, and the first holder of each set. The words
    // in which their owners' tokens stand; empty: there was none to end.
    [[nodiscard]] std::vector<std::string> end_first(testing::raw_client& raw, std::chrono::milliseconds span) const;

    // Who said so before may have died long ago.
    void end_claims(testing::raw_client& raw) const;
};

}  // namespace tranca::interleave
