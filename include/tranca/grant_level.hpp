#pragma once

// Who stood behind a grant when it was made.
//
//     auto held = invoices.acquire();
//     if (held.level() == tranca::grant_level::one_server) ...   // it may not outlive a failover
//
// Promises: what the servers answered at the time of the grant. Does not promise that it is still so. Pure.

namespace tranca {

/// From weak to strong.
enum class grant_level {
    one_server,  ///< The server that was asked, and nobody else that is known of.
    replicas,    ///< And guard::replicas() of its replicas.
    quorum,      ///< A majority of independent masters; quorum_mutex::votes_for() says how many.
};

}  // namespace tranca
