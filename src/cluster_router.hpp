#pragma once

// Knows which node of a Cluster serves which slot, and asks again when somebody has reason to doubt.
//
//     cluster_router router{cluster_endpoint::parse("redis-cluster://n1,n2")};
//     connection redis{where.reach(router.node_of(hash_slot("account:7")))};
//     router.learn(moved);  router.doubt(node);             // MOVED; a lost connection, CLUSTERDOWN
//
// Promises: one thread asks, the others go on with what is known, or wait where nothing is; not more often than every 50 ms.
// Whoever was doubted is asked last, and a node that does not answer costs one connect_timeout at most. What MOVED said holds at
// once. An answer that makes no sense replaces nothing.
// Does not promise that the node asked knows the truth of this moment: then another MOVED says so.
// Thread safety: full. Belongs to one process: a child makes its own.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <tranca/cluster_endpoint.hpp>
#include <tranca/connection.hpp>
#include <tranca/error.hpp>
#include <tranca/redirection.hpp>
#include <tranca/time.hpp>

#include "slot_map.hpp"

namespace tranca {

class cluster_router {
public:
    using address = cluster_endpoint::address;

    explicit cluster_router(const cluster_endpoint& where);

    /// Who serves this slot. Asks when nothing is known yet, and when it was doubted. Throws cluster_down: nobody does;
    /// connect_failed, or what they say, when no node tells a map.
    [[nodiscard]] address node_of(unsigned slot);

    /// All that serve slots, asked as above.
    [[nodiscard]] std::vector<address> masters();

    /// The same as node_of(), but as far as known. No I/O.
    [[nodiscard]] std::optional<address> known(unsigned slot) const;
    [[nodiscard]] bool leads_to_master(const endpoint& where, unsigned slot) const noexcept;
    [[nodiscard]] bool is_master(const address& node) const noexcept;

    /// What a node said by MOVED. No I/O.
    void learn(const redirection& moved);

    /// Has the map asked for anew before it is used again: this node has failed. No I/O.
    void doubt(const address& node) noexcept;

    /// The same, whoever has failed. No I/O.
    void doubt() noexcept;

    /// How many maps there have been.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }

    /// Whether check number `index` has been done at this node; see connection_pool::checked(). No I/O.
    [[nodiscard]] bool checked(const address& node, unsigned index) const noexcept;
    void set_checked(const address& node, unsigned index);

private:
    class search;

    void refresh_if_due();
    [[nodiscard]] bool wait_or_begin();
    [[nodiscard]] std::vector<address> nodes_to_ask() const;
    void replace(slot_map map, const address& told_by);
    void fail(const error& failure) noexcept;

    const cluster_endpoint& where_;

    mutable std::mutex mutex_;  // guards all below but line_; never held during I/O
    std::condition_variable asked_;
    slot_map map_;
    std::atomic<std::uint64_t> version_{0};
    std::optional<address> best_informed_;
    std::vector<address> doubted_;
    bool sure_ = false;
    bool asking_ = false;
    clock::time_point ended_ = clock::time_point::min();  // of the last round of questions
    std::optional<error> failure_;                        // of that
    std::map<address, std::uint64_t> checked_;

    std::optional<connection> line_;  // to whom was asked last; of the thread that has set asking_
};

/// Where this leads to. No I/O.
[[nodiscard]] cluster_endpoint::address address_of(const endpoint& where);

}  // namespace tranca
