#pragma once

// How a multi_mutex behaves.
//
//     tranca::multi_mutex both{redis, {"account:7", "account:9"}, {.lease = {.ttl = 5s}, .label = "billing"}};
//
// Promises: bad values are refused when it is made, before anything is sent.

#include <string>

#include <tranca/lease_clock.hpp>
#include <tranca/replicas.hpp>

namespace tranca {

/// See the top of this file.
struct multi_options {
    std::string prefix = "lock:";  ///< Each key is prefix + name: those of a mutex with the same prefix.
    lease_options lease{};         ///< One for all names; renewed every ttl / 3 by default.
    std::string
        label{};  ///< Who holds them, for people: see mutex::inspect(). Empty: "host:process id". At most 200 bytes.
    tranca::replicas replicas{};  ///< How many must have a grant before it is handed out; see replicas.hpp.
};

}  // namespace tranca
