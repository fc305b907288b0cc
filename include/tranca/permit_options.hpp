#pragma once

// How a semaphore behaves.
//
//     tranca::semaphore calls{redis, "calls:acme", 5, {.lease = {.ttl = 5s}, .label = "billing"}};
//
// Promises: bad values are refused when the semaphore is made, before anything is sent.
// Contenders may have different leases: each holder's time is its own.

#include <string>

#include <tranca/lease_clock.hpp>

namespace tranca {

/// See the top of this file.
struct permit_options {
    std::string prefix = "semaphore:";  ///< The key is prefix + name.
    lease_options lease{};              ///< Renewed every ttl / 3 by default.
    std::string
        label{};  ///< Who holds it, for people: see semaphore::holders(). Empty: "host:process id". At most 200 bytes.
};

}  // namespace tranca
