#pragma once

// The Redis that is measured: a private throw-away server, or the one that REDIS_URL names.
//
// A private server gets the book's bare key names and is pinned to a core for each measurement. Somebody's own server
// is treated as somebody's own: every key begins with prefix(), which is new in each run; only those keys are ever
// deleted, each by its name; nothing is flushed, configured or pinned.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tranca/endpoint.hpp>

#include "process/placement.hpp"
#include "server/private_server.hpp"

namespace tranca::bench {

/// One way to reach the server; `transport` is "unix" or "tcp".
struct route {
    std::string transport;
    endpoint where;
};

class target {
public:
    /// Reads REDIS_URL, or starts a private server. Throws std::runtime_error or tranca::error.
    static target choose();

    [[nodiscard]] bool is_private() const noexcept { return server_ != nullptr; }
    [[nodiscard]] const std::vector<route>& routes() const noexcept { return routes_; }
    /// The Unix socket where there is a choice: what is to be compared are ways to wait, not the kernel's ways to send.
    [[nodiscard]] const route& usual_route() const noexcept { return routes_.front(); }
    /// Before every key; empty on a private server.
    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
    [[nodiscard]] const std::string& version() const noexcept { return version_; }

    /// Pins a private server; somebody's own stays where it is.
    void pin_server(const cores& where) const noexcept;
    /// Throws std::runtime_error if a private server has gone.
    void check_alive() const;
    /// For people: what it is and how it is reached.
    [[nodiscard]] std::string description() const;

private:
    std::unique_ptr<private_server> server_;
    std::vector<route> routes_;
    std::string prefix_;
    std::string version_;
};

}  // namespace tranca::bench
