#pragma once

// One node of a quorum as a client sees it: connections at rest, and a thread that does what may take long.
//
//     auto node = pool.companion<quorum_node>();  node->serve(pool.where());
//     if (auto redis = node->take()) ... else pending = node->connect(limit);
//
// Promises: take() and connect() never wait, whatever the node does: connections are made by a thread of its own, which
// is started when one is needed, and are handed out once the server has answered on them. While the node does not answer,
// one connection at a time is tried, and whoever asks meanwhile is told that there is little hope.
// A release that a node has not answered is kept with its connection, behind what was sent before, until the answer has
// come; if that connection breaks, it is sent on another one, until the key has expired anyway.
// Thread safety: full. Not to be used in a child after fork(): companion() makes another one there.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tranca/connection.hpp>

#include "owing_connection.hpp"
#include "pending_connection.hpp"

namespace tranca {

class quorum_helper;

/// See the top of this file.
class quorum_node {
public:
    quorum_node();

    /// Does not wait for a connection that is being made; the end of the process does, for the endpoint's limits at most.
    ~quorum_node();
    quorum_node(const quorum_node&) = delete;
    quorum_node& operator=(const quorum_node&) = delete;

    /// Where it is; the first call counts.
    void serve(const endpoint& where);

    /// For people.
    [[nodiscard]] std::string where() const;

    /// A connection at rest, or one on which an answer has just been left behind. No wait.
    [[nodiscard]] std::optional<owing_connection> take();

    /// Has one made. Not hopeful if the node has not answered for `limit` on one that is being made, or did not before.
    [[nodiscard]] std::shared_ptr<pending_connection> connect(milliseconds limit);

    /// Puts one to rest.
    void give_back(connection redis) noexcept;

    /// Keeps one on which answers are still to come.
    void leave(owing_connection line) noexcept;

    /// Says them on a new connection.
    void deliver(std::vector<last_word> words) noexcept;

    /// It did not answer in time: not hopeful until it has, and connections at rest are not to be trusted.
    void went_silent() noexcept;

    /// Connections at rest are of no use.
    void drop_idle() noexcept;

private:
    std::shared_ptr<quorum_helper> helper_;  // shared with its thread
    std::uint64_t generation_;
};

}  // namespace tranca
