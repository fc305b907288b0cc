#pragma once

// Renews leases: one thread, one connection, those due together in one write.
//
//     renewer renewals;  renewals.add(held);
//
// Promises: a lease that is being released is left alone, and one that is being renewed is not released meanwhile; after
// stop() nothing is sent. Does not keep time: that is the keeper's, which no silent server can delay.
// Thread safety: full.

#include <memory>

#include <tranca/lease.hpp>

namespace tranca {

class renewer {
public:
    /// Starts the thread. May throw.
    renewer();
    ~renewer();
    renewer(const renewer&) = delete;
    renewer& operator=(const renewer&) = delete;

    /// Has it renewed soon.
    void add(const std::shared_ptr<lease>& due);

    /// Ends the thread, once the batch under way is answered.
    void stop() noexcept;

private:
    struct crew;

    std::shared_ptr<crew> crew_;  // shared with the thread: a listener may destroy the client from it
};

}  // namespace tranca
