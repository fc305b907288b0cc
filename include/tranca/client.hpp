#pragma once

// Where Redis is, for everything else in this library.
//
//     tranca::client redis{"redis://localhost:6379"};
//     tranca::mutex invoices{redis, "invoices"};
//     redis.command("PING");
//
// Promises: thread-safe; connects when first needed, gives every user a connection of its own, replaces those the server
// closed. Destroying it ends waits with errc::stopped; guards that are still held can be released afterwards.
// In a child after fork() it works with new connections; the parent's are not touched.
// Does not promise that the server is there: the first command finds out.

#include <memory>
#include <string_view>

#include <tranca/connection_pool.hpp>
#include <tranca/endpoint.hpp>
#include <tranca/reply.hpp>
#include <tranca/request.hpp>

namespace tranca {

/// A pool of connections to one server. Movable; full thread safety but for moves.
class client {
public:
    /// Throws errc::invalid_url or errc::invalid_argument. No I/O.
    explicit client(std::string_view url, client_options options = {});
    explicit client(endpoint where, client_options options = {});

    client(client&&) noexcept = default;
    client& operator=(client&& other) noexcept;
    ~client();

    /// Runs one command of yours. Throws what the server answers as an error. One round trip; not sent again if its
    /// answer is lost (`in_doubt()` then says so). What it does to its connection (SELECT, MULTI, WATCH) ends with it: the
    /// next command finds the endpoint's own database, account and name.
    template <request_argument... Arguments>
    reply command(const Arguments&... arguments) {
        return run(request{arguments...});
    }

    /// The same for a request made before.
    reply run(const request& command);

    [[nodiscard]] const endpoint& where() const noexcept { return pool_->where(); }

    /// What primitives keep of the client.
    [[nodiscard]] const std::shared_ptr<connection_pool>& pool() const noexcept { return pool_; }

private:
    std::shared_ptr<connection_pool> pool_;
};

}  // namespace tranca
