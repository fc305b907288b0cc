#pragma once

// Renews leases: one thread, one connection, those due together in one write. In a Cluster one thread for each node that serves
// some, so that a silent node delays nobody else's. Leases that live on several servers have another thread for the same reason.
//
//     renewer renewals;  renewals.add(held);
//
// Promises: a lease that is being released is left alone, and one that is being renewed is not released meanwhile; after
// stop() nothing is sent. Does not keep time: that is the keeper's, which no silent server can delay.
// Thread safety: full.

#include <map>
#include <memory>

#include <tranca/lease.hpp>

namespace tranca {

class renewer {
public:
    renewer();
    ~renewer();
    renewer(const renewer&) = delete;
    renewer& operator=(const renewer&) = delete;

    /// Has it renewed soon. By one thread at a time; may throw if no thread can be started.
    void add(const std::shared_ptr<lease>& due);

    /// Ends the thread, once the batch under way is answered.
    void stop() noexcept;

private:
    struct crew;

    [[nodiscard]] std::shared_ptr<crew>& crew_for(const lease& due);

    // Shared with their threads: a listener may destroy the client from one.
    std::map<cluster_endpoint::address, std::shared_ptr<crew>> crews_;  // by node; without a Cluster there is one
    std::shared_ptr<crew> apart_;
};

}  // namespace tranca
