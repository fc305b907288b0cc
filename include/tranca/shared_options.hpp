#pragma once

// How a readers/writer lock behaves.
//
//     tranca::shared_mutex prices{redis, "prices", {.lease = {.ttl = 5s}, .label = "billing"}};
//
// Promises: bad values are refused when the lock is made, before anything is sent.
// Holders may have different leases: each one's time is its own.

#include <string>

#include <tranca/lease_clock.hpp>
#include <tranca/replicas.hpp>

namespace tranca {

/// See the top of this file.
struct shared_options {
    std::string prefix = "lock:";  ///< The key is prefix + name.
    lease_options lease{};         ///< Of readers and writers. Renewed every ttl / 3 by default.
    std::string
        label{};  ///< Who holds it, for people: see shared_mutex::holders(). Empty: "host:process id". At most 200 bytes.
    tranca::replicas replicas{};  ///< How many must have a grant before it is handed out; see replicas.hpp.
};

}  // namespace tranca
