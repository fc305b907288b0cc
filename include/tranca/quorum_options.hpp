#pragma once

// How a quorum_mutex behaves.
//
//     tranca::quorum_mutex invoices{{a, b, c}, "invoices", {.lease = {.ttl = 5s}, .label = "billing"}};
//
// Promises: bad values are refused when the mutex is made, before anything is sent.

#include <optional>
#include <string>

#include <tranca/lease_clock.hpp>
#include <tranca/mutex_options.hpp>

namespace tranca {

/// How many nodes must have stored a fencing number before it is given out.
enum class confirmations {
    majority,  ///< In order as long as no node loses its memory.
    one_more,  ///< In order also if one does (of the others than the last): the price is one vote. No more than all.
};

/// See the top of this file.
struct quorum_options {
    std::string prefix = "lock:";  ///< The key on each node is prefix + name.
    lease_options lease{};         ///< Renewed every ttl / 3 by default.
    tranca::fencing fencing = tranca::fencing::on;
    tranca::confirmations confirmations = tranca::confirmations::majority;
    std::optional<milliseconds> time_limit{};  ///< For the answers to one question; nullopt: ttl / 20, 50 ms at most.
    std::optional<milliseconds> drift{};  ///< What two clocks may differ by after a ttl; nullopt: ttl / 100 + 2 ms.
    std::string label{};                  ///< Who holds it, for people. Empty: "host:process id". At most 200 bytes.
};

}  // namespace tranca
