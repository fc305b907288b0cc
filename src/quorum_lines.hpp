#pragma once

// The connections one lease uses to its nodes, from its first question to its last.
//
//     quorum_lines lines{pools};
//     ballot question{lines, call, until, stop};  ...          // see ballot.hpp
//     lines.end(last_word{release, expiry});
//
// Promises: what is said to a node while it still owes an answer is said on the same connection, so that it comes after;
// between two questions a lease keeps no connection on which nothing is owed.
// Thread safety: none. In a child after fork() nothing is sent.

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <tranca/connection_pool.hpp>

#include "quorum_node.hpp"

namespace tranca {

/// How a node stands to the token of a lease.
enum class hold {
    none,     ///< It was never asked, or said no.
    maybe,    ///< It was asked, and may have said yes.
    settled,  ///< It answered the release.
};

struct quorum_line {
    std::shared_ptr<quorum_node> node;
    std::optional<connection> redis{};  // while answers are owed
    std::vector<last_word> words{};     // of others before, on the same connection
    std::optional<clock::time_point> since{};
    hold held = hold::none;
};

/// Takes a connection that the node has, if it has one.
[[nodiscard]] bool take_connection(quorum_line& line);

/// Its connection broke: what others said on it is to be said again.
void drop_connection(quorum_line& line) noexcept;

class quorum_lines {
public:
    /// No I/O.
    explicit quorum_lines(const std::vector<std::shared_ptr<connection_pool>>& pools);
    ~quorum_lines();
    quorum_lines(const quorum_lines&) = delete;
    quorum_lines& operator=(const quorum_lines&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    [[nodiscard]] quorum_line& operator[](std::size_t node) noexcept { return lines_[node]; }

    /// Puts those to rest on which nothing is owed.
    void rest() noexcept;

    /// Leaves the others to their nodes; `word`, if any, is to reach each node that may hold something.
    void end(const std::optional<last_word>& word) noexcept;

private:
    std::uint64_t generation_;
    std::vector<quorum_line> lines_;
};

}  // namespace tranca
