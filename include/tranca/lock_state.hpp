#pragma once

// What a lock looks like from outside, for people and for audits.
//
//     for (const auto& lock : tranca::find_locks(redis, "lock:*"))
//         if (lock.lasts_for_ever()) warn(lock.name);        // a hand-made lock that never comes back
//
// Does not promise anything about the next moment: never decide by it whether to enter a critical section.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/time.hpp>

namespace tranca {

/// A lock as it was found.
struct lock_state {
    std::string name;  ///< The key.
    bool held = false;
    std::string label{};                      ///< Of its holder; empty: none, or not a tranca::mutex.
    std::optional<std::uint64_t> fence{};     ///< Of its holder's grant, where it has one.
    std::optional<milliseconds> remaining{};  ///< Of its ttl; empty: it has none, or it is not held.
    bool waiters = false;                     ///< Does somebody wait for it, or did in the last two seconds?

    /// True for a lock without ttl: nothing but a release by hand ever frees it.
    [[nodiscard]] bool lasts_for_ever() const noexcept { return held && !remaining; }
};

/// Every string key that matches a glob pattern of Redis, as a lock, sorted by name. Uses SCAN: does not block the server;
/// keys that come and go meanwhile may be missed. Looks at one server; in a Cluster at each node that serves slots, one after the
/// other, where keys that move meanwhile may be missed. About two round trips per thousand keys.
[[nodiscard]] std::vector<lock_state> find_locks(const client& redis, std::string_view pattern = "lock:*");

/// The lock with this main key. Throws error; errc::wrong_type if the key holds no string. One round trip.
[[nodiscard]] lock_state inspect_lock(connection_pool& pool, const key& name);

}  // namespace tranca
