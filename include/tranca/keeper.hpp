#pragma once

// Watches the time of leases, so that a loss is told even when the server is silent.
//
//     keeper_of(pool).watch(held);        // asked for by guard::lost()
//
// Promises: one thread for all leases of a client, one for telling of losses, and one more for every listener that is
// still busy when the next loss comes, so that a slow listener delays neither another lease's clock nor its loss. They
// start on first need. A lease that has ended costs nothing.
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

    /// Looks at the lease when its time is over; called again, at its new time. May throw if no thread can be started.
    void watch(const std::shared_ptr<lease>& held);

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
