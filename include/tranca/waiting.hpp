#pragma once

// Waiting without polling: block on a list until a release pushes to it, and ask again in the same write.
//
//     return tranca::wait_for(std::make_shared<mutex_lease>(...), deadline, stop);
//
// What happens: an acquire in vain leaves a mark on the server; a release that finds the mark pushes one wake-up to a list;
// the waiter has sent `BLPOP list` and its next acquire together, so the server itself runs the acquire the moment it is
// woken: a hand-over takes one trip.
//
// Promises: a wake-up is a hint and every wait has a timer of its own (the holder's remaining ttl, at most a second, at
// most an eighth of the waiter's own ttl), so that a holder's crash is noticed when its key expires and a wake-up given to
// a dead waiter costs one such slice; a stop request ends the wait within milliseconds (where the server pauses writes, within
// command_timeout) and hands on what it may have been given; a lost answer is asked for again with the same token; a server
// that went away is asked again until the deadline; in a Cluster, the node of the moment is asked, by the same token. A grant whose
// answer came when the lease was over is given back, and ends the wait with errc::timeout: what gives it back may come late, and
// must not meet a later grant of the same token.
// Does not promise strict order: waiters are woken in the order in which they began their slice, and a newcomer may be faster.
// Costs: one round trip to block, half of one to be woken; each slice two commands, and two more to end it where its end
// matters (the holder's expiry, the deadline, a stop); a connection of its own while it waits.
// Source: the checked models m7 and m8 in tests; Redis documentation, BLPOP and CLIENT UNBLOCK.

#include <memory>
#include <optional>
#include <stop_token>

#include <tranca/backoff.hpp>
#include <tranca/contender.hpp>
#include <tranca/guard.hpp>

namespace tranca {

/// One attempt. nullopt: busy. Throws as attempt_once. One round trip.
[[nodiscard]] std::optional<guard> try_now(const std::shared_ptr<contender>& candidate);

/// Attempts until it is granted (a guard), or until the deadline or a stop request (nullopt). Throws error when Redis cannot
/// be asked: until the deadline, or never (see polling.hpp).
[[nodiscard]] std::optional<guard> wait_for(const std::shared_ptr<contender>& candidate, clock::time_point deadline,
                                            const std::stop_token& stop);

}  // namespace tranca
