#pragma once

// How many replicas must have a grant before its holder gets it.
//
//     tranca::mutex invoices{redis, "invoices", {.replicas = {.count = 1, .within = 50ms}}};
//     auto held = invoices.acquire();      // held.replicas() of them have acknowledged it
//
// Promises: after each grant WAIT is sent on the same connection; if fewer than `count` replicas acknowledge in time, the grant
// is undone and errc::too_few_replicas thrown, with how many did. The lease is counted from before all that.
// Does not prove that the lock outlives a failover: another replica, which lags, may be promoted; a replica acknowledges what
// is in its memory, not on its disk; renewals are not waited for. It makes two holders rarer. Fencing numbers are what
// the resource can rely on.
// Cost: one round trip more, and the time the replicas take. The account needs +wait.
// Source: Redis documentation, WAIT.

#include <cstdint>

#include <tranca/time.hpp>

namespace tranca {

/// See the top of this file.
struct replicas {
    std::int64_t count = 0;    ///< 0: none, and WAIT is not sent.
    milliseconds within{100};  ///< For how long to wait for them; less than the ttl.
};

/// Throws errc::invalid_argument unless 0 <= count <= 1000 and 0 < within < ttl. No I/O.
void require_replicas(const replicas& wanted, milliseconds ttl);

}  // namespace tranca
