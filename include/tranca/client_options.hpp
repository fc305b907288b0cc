#pragma once

// How a client behaves, beside where its server is.
//
//     auto numbers = std::make_shared<tranca::counters>();
//     tranca::client redis{"redis://localhost", {.sink = numbers, .max_idle_connections = 4}};
//
// Does not hold time limits: those are in the URL, see endpoint.hpp.

#include <cstddef>
#include <functional>
#include <memory>

#include <tranca/event.hpp>

namespace tranca {

/// How a client behaves.
struct client_options {
    /// Told of failures that nobody can be thrown at; see event.hpp. May be empty. It is kept, and may be called, until the
    /// client and its guards are gone and a loss that is just being told has been: what it refers to must last as long.
    std::function<void(const event&)> on_event{};
    /// Told of everything that happens, failures too; see counters.hpp for one that counts. May be empty.
    std::shared_ptr<event_sink> sink{};
    /// Kept open when idle, in a Cluster for each node. More may be open while more threads are at work.
    std::size_t max_idle_connections = 16;
};

}  // namespace tranca
