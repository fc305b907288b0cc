#pragma once

// How many replicas must have a grant, or whose disk, before its holder gets it.
//
//     tranca::mutex invoices{redis, "invoices", {.replicas = {.count = 1, .within = 50ms}}};
//     auto held = invoices.acquire();      // held.replicas() of them have acknowledged it
//
// Promises: after each grant WAIT (WAITAOF for `on_disk`) is sent on the same connection; if fewer than `count` replicas
// acknowledge in time, or the server's own disk does not, the grant is undone and errc::too_few_replicas thrown, with how many
// did. The lease is counted from before all that. A server that cannot do it (no WAITAOF before Redis 7.2, or no append-only
// file) refuses with its own words, and the grant is undone too.
// Does not prove that the lock outlives a failover: another replica, which lags, may be promoted; renewals are not waited for.
// Without `on_disk` a replica acknowledges what is in its memory. It makes two holders rarer. Fencing numbers are what the
// resource can rely on.
// Cost: one round trip more, and the time the replicas take; for disks that are synced every second, up to a second.
// The account needs +wait, or +waitaof.
// Source: Redis documentation, WAIT and WAITAOF.

#include <cstdint>

#include <tranca/time.hpp>

namespace tranca {

/// See the top of this file.
struct replicas {
    std::int64_t count = 0;    ///< 0: none.
    milliseconds within{100};  ///< For how long to wait for them; less than the ttl.
    bool on_disk = false;      ///< They and the server itself must have synced it to their append-only files.

    /// Is there anything to wait for?
    [[nodiscard]] bool wanted() const noexcept { return count > 0 || on_disk; }
};

/// Throws errc::invalid_argument unless 0 <= count <= 1000 and 0 < within < ttl. No I/O.
void require_replicas(const replicas& wanted, milliseconds ttl);

}  // namespace tranca
