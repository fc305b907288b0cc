#pragma once

// The way of one operation through a Cluster whose nodes send it elsewhere.
//
//     detour way;
//     for (;;) {
//         auto redis = pool.borrow(key, way);
//         try { return use(*redis); }
//         catch (const error& failure) { if (!pool.follow(way, *redis, failure)) throw; }
//     }
//
// Promises: it ends, after so many redirections or when it has been sent away for too long.
// Does not know the map of slots: that is the pool's.

#include <optional>

#include <tranca/cluster_endpoint.hpp>
#include <tranca/time.hpp>

namespace tranca {

/// Where an operation in a Cluster goes on that was sent elsewhere. One for each operation; at first there is nothing in it.
struct detour {
    static constexpr unsigned most_redirections = 5;

    std::optional<cluster_endpoint::address> ask{};  ///< The node that serves it this once.
    unsigned redirections = 0;
    std::optional<clock::time_point> until{};  ///< When it has been sent away for too long.

    [[nodiscard]] bool is_exhausted() const noexcept { return redirections >= most_redirections; }
};

}  // namespace tranca
