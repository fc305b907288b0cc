#pragma once

// What a server can do in one command that takes a script elsewhere.
//
//     if (redis.features().if_equal) ...       // SET key value IFEQ old
//
// Promises: asked for by COMMAND DOCS and COMMAND INFO, once a connection; never guessed from a version, never tried.
// A server that does not tell has none of them.
// Source: Redis documentation, SET, DELEX and COMMAND DOCS; Valkey documentation, SET and DELIFEQ.

#include <optional>
#include <string_view>

#include <tranca/reply.hpp>
#include <tranca/request.hpp>

namespace tranca {

struct server_features {
    bool set_nx_get = false;  ///< SET ... NX GET (Redis 7.0)
    bool if_equal = false;    ///< SET ... IFEQ old (Redis 8.4, Valkey 8.1)
    bool delex = false;       ///< DELEX key IFEQ value (Redis 8.4)
    bool delifeq = false;     ///< DELIFEQ key value (Valkey 9.0)
};

/// The two commands whose answers tell. Pure.
[[nodiscard]] request features_question();

/// What they told. Pure.
[[nodiscard]] server_features features_from(const reply_view& docs_of_set, const reply_view& info);

/// A plain command that does what a script does, where the server has it.
struct native_form {
    bool server_features::*needs;
    request command;
};

}  // namespace tranca
