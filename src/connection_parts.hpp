#pragma once

// What a connection is made of.
//
//     parts_->stream.send(commands.bytes(), until, sent);
//
// For the files of `connection` alone.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tranca/connection.hpp>

#include "reply_stream.hpp"

namespace tranca {

struct connection::parts {
    parts(const endpoint& where_, clock::time_point deadline)
        : where(where_), connect_deadline(deadline), stream(where, deadline) {}

    endpoint where;
    clock::time_point connect_deadline;
    reply_stream stream;
    bool broken = false;      // nothing more can come, or what comes is not to be trusted
    bool retired = false;     // nothing more is to be sent
    bool refused = false;     // by the server's own words
    bool unanswered = false;  // by a test: the next reply is read and not heard
    bool cut = false;         // by a test: it is not even waited for
    std::size_t awaited = 0;  // replies
    request last_sent;        // by a send() whose replies are still to come, for error texts
    hearer posted;            // its answer comes before any other
    std::optional<std::int64_t> id;
    std::optional<server_features> features;
    std::optional<redirection> redirected;
    bool asks_first = false;
    bool permitted = false;  // the next reply is no more that to ASKING
    std::string address;
};

/// Goes before each command on its way through a Cluster's node that is about to give a key away.
[[nodiscard]] inline request asking() { return request{"ASKING"}; }

}  // namespace tranca
