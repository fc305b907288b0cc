#pragma once

// A network that takes its time: passes connections on to a server and keeps every piece for a while in each direction.
//
//     const delaying_proxy network(redis.over_tcp(), 500us);
//     wire far(network.where());                    // each answer takes 1 ms more than over the loopback
//
// What is measured through it has a known distance to the server, whatever the machine's own loopback costs.
// Promises: bytes keep their order and none is lost; each piece leaves `each_way` after it came, however many follow it; a
// connection that ends is ended on the other side, after the same delay. One process of its own, ended with the object.
// Does not promise less than the time that process needs to wake up: that is part of what a measurement sees, for a bare
// round trip as for a lock.

#include <chrono>
#include <cstdint>
#include <optional>

#include <tranca/endpoint.hpp>

#include "process/child.hpp"

namespace tranca::bench {

class delaying_proxy {
public:
    /// Listens on a free loopback port. Throws std::system_error.
    delaying_proxy(const endpoint& server, std::chrono::microseconds each_way);

    /// The same server, reached over the proxy.
    [[nodiscard]] const endpoint& where() const noexcept { return where_; }
    [[nodiscard]] pid_t pid() const noexcept { return process_->pid(); }

private:
    endpoint where_;
    std::optional<child> process_;
};

}  // namespace tranca::bench
