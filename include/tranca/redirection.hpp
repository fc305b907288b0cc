#pragma once

// The other node that a node of a Cluster names instead of running a command.
//
//     const auto elsewhere = tranca::redirection_in("MOVED 3999 10.0.0.7:6381", here);
//     elsewhere->kind == tranca::redirection::kinds::moved;      // for good; `ask` is for this command alone
//
// Promises: an empty host, or an unknown one, is that of the node that said it; IPv6 addresses may stand with or without [ ].
// Does not promise that the other node exists. A value; pure.
// Source: Redis Cluster specification, "MOVED Redirection" and "ASK redirection".

#include <optional>
#include <string_view>

#include <tranca/cluster_endpoint.hpp>

namespace tranca {

/// See the top of this file.
struct redirection {
    enum class kinds { moved, ask };

    kinds kind = kinds::moved;
    unsigned slot = 0;
    cluster_endpoint::address to{};
};

/// How many slots a Cluster has.
inline constexpr unsigned cluster_slots = 16'384;

/// What an error reply says; empty: it is no redirection, or none that can be followed. No I/O.
[[nodiscard]] std::optional<redirection> redirection_in(std::string_view error_text,
                                                        const cluster_endpoint::address& said_by);

}  // namespace tranca
