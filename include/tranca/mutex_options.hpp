#pragma once

// How a mutex behaves.
//
//     tranca::mutex invoices{redis, "invoices", {.lease = {.ttl = 5s}, .label = "billing"}};
//
// Promises: bad values are refused when the mutex is made, before anything is sent.

#include <string>

#include <tranca/lease_clock.hpp>

namespace tranca {

/// Does every acquisition get a fencing number? Without, an acquire costs the server less.
enum class fencing { on, off };

/// When is the answer to a release read?
enum class release_mode {
    immediate,  ///< At once: release() tells how it went.
    deferred,  ///< With the next use of the connection, if nobody is known to wait: a cycle costs one round trip, and the
               ///< outcome goes to the event sink. release() then says `released` for what was sent while held.
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
    std::string
        label{};  ///< Who holds it, for people: see mutex::inspect(). Empty: "host:process id". At most 200 bytes.
};

/// The label of this process: "host:process id". Asked of the operating system once a process.
[[nodiscard]] std::string process_label();

/// The label itself, or that of this process for an empty one. Throws errc::invalid_argument beyond 200 bytes.
[[nodiscard]] std::string label_or_default(const std::string& label);

}  // namespace tranca
