#pragma once

// When an answer to an acquire is a grant.
//
//     const auto found = verdict_of(*candidate, call, run(redis, call), redis);
//     if (found.granted) await_replicas(*candidate, redis);
//
// Promises: an answer that is none is an error in doubt, and its connection is not used again.

#include <tranca/connection.hpp>
#include <tranca/contender.hpp>

namespace tranca {

/// What it means, or that it is no answer to what was asked: then nobody knows what was done, nor what else this connection
/// will say.
[[nodiscard]] contender::verdict verdict_of(contender& candidate, const script_call& call, const reply& answer,
                                            connection& redis);

/// A grant that too few replicas have is none: who catches what this throws undoes it. One round trip where replicas are wanted.
void await_replicas(contender& candidate, connection& redis);

}  // namespace tranca
