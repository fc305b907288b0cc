#pragma once

// How a mutex behaves.
//
//     tranca::mutex invoices{redis, "invoices", {.lease = {.ttl = 5s}, .label = "billing"}};
//
// Promises: bad values are refused when the mutex is made, before anything is sent.

#include <string>

#include <tranca/fairness.hpp>
#include <tranca/lease_clock.hpp>
#include <tranca/replicas.hpp>

namespace tranca {

/// Does every acquisition get a fencing number? Without, an acquire costs the server less. With fairness it gets one anyway.
enum class fencing { on, off };

/// When is the answer to a release read?
enum class release_mode {
    immediate,  ///< At once: release() tells how it went.
    deferred,  ///< With the next use of the connection, if nobody is known to wait and it is no Cluster's: a cycle costs
               ///< one trip, and the outcome goes to the event sink. release() then says `released` if sent while held.
};

/// Does anybody ever wait for it?
enum class waiters {
    expected,  ///< A release wakes one of them.
    none,      ///< It is only tried. A release is then one native command where the server has it (DELEX, DELIFEQ), and
    ///< cannot tell `taken` from `expired`; who waits all the same looks again once a slice: a second at most.
};

/// See the top of this file.
struct mutex_options {
    std::string prefix = "lock:";  ///< The key is prefix + name.
    lease_options lease{};         ///< Renewed every ttl / 3 by default.
    tranca::fencing fencing = tranca::fencing::on;
    release_mode release = release_mode::immediate;
    tranca::waiters waiters = tranca::waiters::expected;
    tranca::fairness fairness = tranca::fairness::off;  ///< All contenders of a name must say the same.
    milliseconds waiter_lease{1'000};  ///< With fairness: who is not heard of for so long is out of the line.
    tranca::replicas replicas{};       ///< How many must have a grant before it is handed out; see replicas.hpp.
    std::string
        label{};  ///< Who holds it, for people: see mutex::inspect(). Empty: "host:process id". At most 200 bytes.
};

/// The label of this process: "host:process id". Asked of the operating system once a process.
[[nodiscard]] std::string process_label();

/// The label itself, or that of this process for an empty one. Throws errc::invalid_argument beyond 200 bytes.
[[nodiscard]] std::string label_or_default(const std::string& label);

}  // namespace tranca
