#pragma once

// Watches the time of leases: has them renewed, and tells of a loss even when the server is silent.
//
//     keeper_of(pool).watch(held);        // by a lease that is to be renewed, and by guard::lost()
//
// Promises: one thread watches all leases of a client and never talks to the server; one renews them, on a connection of
// its own, those due together in one write (in a Cluster, for each node); one tells of losses, and one more for every listener
// that is still busy when the next loss comes: neither a slow listener nor a silent server delays a lease's clock or its loss.
// They start on first need. A lease that has ended costs nothing.
// Does not promise real time: a listener runs when the operating system lets the thread run.
// Thread safety: full.

#include <memory>

#include <tranca/lease.hpp>

namespace tranca {

/// The timer of a client's leases.
class keeper {
public:
    keeper();
    ~keeper();
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;

    /// Looks at the lease at the next of its times; called again when they have changed. May throw if no thread can be started.
    void watch(const std::shared_ptr<lease>& held);

    /// Tells of a loss found by somebody else.
    void announce(const std::shared_ptr<lease>& lost) noexcept;

    /// Ends the watch.
    void forget(const lease& ended) noexcept;

private:
    struct threads;

    // Shared with the threads: a listener may destroy the client whose keeper runs it.
    std::shared_ptr<threads> threads_;
};

/// The keeper of a pool in this process; made on first need.
[[nodiscard]] keeper& keeper_of(connection_pool& pool);

}  // namespace tranca
