#pragma once

// Where Redis is, for everything else in this library.
//
//     tranca::client redis{"redis://localhost:6379"};
//     tranca::mutex invoices{redis, "invoices"};
//     redis.command("PING");
//     tranca::client watched{"redis-sentinel://s1,s2,s3/mymaster"};   // finds the master, and follows a failover
//     tranca::client all{"redis-cluster://n1,n2,n3"};                  // finds the node of each key, and follows what moves
//
// Promises: thread-safe; connects when first needed, gives every user a connection of its own, replaces those the server
// closed. Destroying it ends waits with errc::stopped; guards that are still held can be released afterwards.
// In a child after fork() it works with new connections; the parent's are not touched.
// Does not promise that the server is there: the first command finds out.
//
// By Sentinel: waits, renewals and releases follow a failover; READONLY from a demoted master is no answer.
// Does not promise there what replication cannot: a replica that is promoted may not have the last grants. Where the network
// splits, the old master goes on granting to whoever reaches it, until the sentinel that is asked names another: two hold one
// name, with different fences. One sentinel is asked, the next only if it is silent; one that is cut off with the old master goes
// on naming it. A grant that `replicas` of a primitive's options has seen acknowledged is not displaced, as long as the sentinels
// promote the replica that is furthest ahead, and its last renewal got there too; nor is there one at a master cut off from
// its replicas.

#include <memory>
#include <string_view>

#include <tranca/cluster_endpoint.hpp>
#include <tranca/connection_pool.hpp>
#include <tranca/endpoint.hpp>
#include <tranca/reply.hpp>
#include <tranca/request.hpp>
#include <tranca/sentinel_endpoint.hpp>

namespace tranca {

/// A pool of connections to one server, to whichever is the master, or to the nodes of a Cluster. Movable; full thread safety but
/// for moves.
class client {
public:
    /// The URL of an endpoint, a sentinel_endpoint or a cluster_endpoint. Throws errc::invalid_url or errc::invalid_argument. No
    /// I/O.
    explicit client(std::string_view url, client_options options = {});
    explicit client(endpoint where, client_options options = {});
    explicit client(sentinel_endpoint where, client_options options = {});
    explicit client(cluster_endpoint where, client_options options = {});

    client(client&&) noexcept = default;
    client& operator=(client&& other) noexcept;
    ~client();

    /// Runs one command of yours. Throws what the server answers as an error. One round trip; not sent again if its
    /// answer is lost (`in_doubt()` then says so). What it does to its connection (SELECT, MULTI, WATCH) ends with it: the
    /// next command finds the endpoint's own database, account and name.
    /// In a Cluster it goes to the node of its first key, taken to be its first argument, or the first key named by EVAL, EVALSHA
    /// and FCALL; PING, INFO and their like to any. MOVED and ASK are followed (a round trip more each), five of them at most.
    template <request_argument... Arguments>
    reply command(const Arguments&... arguments) {
        return run(request{arguments...});
    }

    /// The same for a request made before.
    reply run(const request& command);

    /// The settings it was made with. By Sentinel and in a Cluster without host and port: those are server()'s.
    [[nodiscard]] const endpoint& where() const noexcept { return pool_->where(); }

    /// Where the server is, as far as is known. By Sentinel: the master found last; in a Cluster: the node of the key `about`;
    /// none yet: without a host. No I/O.
    [[nodiscard]] endpoint server(std::string_view about = {}) const { return pool_->server(about); }

    /// What primitives keep of the client.
    [[nodiscard]] const std::shared_ptr<connection_pool>& pool() const noexcept { return pool_; }

private:
    std::shared_ptr<connection_pool> pool_;
};

}  // namespace tranca
