#pragma once

// Where a Redis Cluster is: some of its nodes, from which the others are learnt.
//
//     tranca::client redis{"redis-cluster://worker:p%40ss@n1.example.com,n2.example.com:7000/?command_timeout=200ms"};
//     tranca::client same{tranca::cluster_endpoint{.seeds = {{"n1.example.com"}, {"n2.example.com", 7000}},
//                                                  .server = {.user = "worker", .password = "p@ss"}}};
//
// The URL: redis-cluster://[user:password@]host[:port][,host[:port]...][/][?options], with the options of endpoint.
// rediss-cluster:// speaks TLS with every node. The usual port is 6379. A Cluster has one database, number 0.
//
// Promises: what endpoint promises of its URLs; no password appears in any text.
// Does not promise that the seeds exist, or that they are nodes of one Cluster: nothing is looked up here.
//
// What a client of a Cluster promises: every primitive works with any name; a slot that moves, one by one or under load, and a
// replica that takes a master's place are followed; waits go on meanwhile, and what is held is renewed at the next node.
// What it does not: replication is asynchronous. A replica that is promoted may not have the last grants of its master, and then
// two hold one name until the first one's renewal finds it out, a third of its ttl later at most. Their fences differ and the
// later one's is larger: a resource that checks them (fenced_write, fenced_read) refuses the first. `replicas` of a primitive's
// options makes it rare; no setting makes it impossible.
// While a slot is on its way and some keys of a lock are at the one node, some at the other, no script can see them together:
// the servers say TRYAGAIN. Waits, renewals and releases go on asking; they succeed once the slot has moved.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/endpoint.hpp>

namespace tranca {

/// Some nodes of a Cluster, and how to talk to all of them.
struct cluster_endpoint {
    /// One node.
    struct address {
        std::string host{};
        std::uint16_t port = 6379;

        friend auto operator<=>(const address&, const address&) = default;
    };

    std::vector<address> seeds{};  ///< Asked in this order for the others, until one answers.
    endpoint server{};  ///< Account, limits and TLS of every node. Its host and port are ignored; its database is 0.

    /// True for redis-cluster:// and rediss-cluster://. No I/O.
    [[nodiscard]] static bool is_meant_by(std::string_view url) noexcept;

    /// Reads a URL. Throws errc::invalid_url or errc::invalid_argument; the text never holds a password. No I/O.
    [[nodiscard]] static cluster_endpoint parse(std::string_view url);

    /// Throws errc::invalid_argument if a member is out of range. No I/O.
    void validate() const;

    /// How a node is reached. No I/O.
    [[nodiscard]] endpoint reach(const address& node) const;

    /// For people: "redis-cluster://worker@n1:6379,n2:7000", without the password. No I/O.
    [[nodiscard]] std::string printable() const;
};

/// For people: "n1:6379", "[::1]:6379". No I/O.
[[nodiscard]] std::string printable(const cluster_endpoint::address& node);

}  // namespace tranca
