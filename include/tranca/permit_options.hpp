#pragma once

// How a semaphore behaves.
//
//     tranca::semaphore calls{redis, "calls:acme", 5, {.lease = {.ttl = 5s}, .label = "billing"}};
//
// Promises: bad values are refused when the semaphore is made, before anything is sent.
// Contenders may have different leases: each holder's time is its own.

#include <string>

#include <tranca/fairness.hpp>
#include <tranca/lease_clock.hpp>
#include <tranca/replicas.hpp>

namespace tranca {

/// See the top of this file.
struct permit_options {
    std::string prefix = "semaphore:";                  ///< The key is prefix + name.
    lease_options lease{};                              ///< Renewed every ttl / 3 by default.
    tranca::fairness fairness = tranca::fairness::off;  ///< All contenders of a name must say the same.
    milliseconds waiter_lease{1'000};  ///< With fairness: who is not heard of for so long is out of the line.
    tranca::replicas replicas{};       ///< How many must have a grant before it is handed out; see replicas.hpp.
    std::string
        label{};  ///< Who holds it, for people: see semaphore::holders(). Empty: "host:process id". At most 200 bytes.
};

}  // namespace tranca
