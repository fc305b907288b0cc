#pragma once

// What one process keeps of a pool: its idle connections, and who knows where the server is.
//
//     const std::lock_guard lock{shelf.mutex};
//     dropped = shelf.take_all([&](const auto& one) { return leads_to(one, node); });
//
// Does not connect, and does not outlive a fork: a child makes one of its own.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <typeindex>
#include <vector>

#include <tranca/connection_pool.hpp>

#include "cluster_router.hpp"
#include "fork_guard.hpp"
#include "master_finder.hpp"

namespace tranca {

[[nodiscard]] inline bool leads_to(const connection& redis, const cluster_endpoint::address& node) {
    return redis.where().port == node.port && redis.where().host == node.host;
}

struct connection_pool::shelf {
    shelf(const std::optional<sentinel_endpoint>& sentinels, const std::optional<cluster_endpoint>& cluster) {
        if (sentinels) finder.emplace(*sentinels);
        if (cluster) router.emplace(*cluster);
    }

    /// Takes out the newest of those that lead there, or is empty.
    [[nodiscard]] std::optional<connection> take_idle(const cluster_endpoint::address& node);
    [[nodiscard]] std::size_t idle_to(const cluster_endpoint::address& node) const;
    template <class Wanted>
    [[nodiscard]] std::vector<connection> take_all(Wanted&& wanted);

    const std::uint64_t generation = fork_generation();
    std::mutex mutex;
    std::vector<connection> idle;
    std::stop_source closing;
    std::atomic<bool> closed = false;
    std::map<std::type_index, std::shared_ptr<void>> companions;
    std::optional<master_finder> finder;
    std::optional<cluster_router> router;
    std::uint64_t version_seen = 0;  // of the router's map
};

template <class Wanted>
std::vector<connection> connection_pool::shelf::take_all(Wanted&& wanted) {
    const auto first = std::stable_partition(idle.begin(), idle.end(), [&](const auto& one) { return !wanted(one); });
    std::vector<connection> taken{std::make_move_iterator(first), std::make_move_iterator(idle.end())};
    idle.erase(first, idle.end());
    return taken;
}

}  // namespace tranca
