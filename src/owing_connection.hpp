#pragma once

// A connection on which answers are still to come, and what was said on it that must not be lost with it.
//
//     node->leave({std::move(redis), {{release, expiry}}, clock::now()});
//
// Pure values.

#include <optional>
#include <vector>

#include <tranca/connection.hpp>

namespace tranca {

/// A command that is to reach the node unless it is too late for it.
struct last_word {
    request command;
    clock::time_point until;
};

/// A connection, and what was said on it that has not been answered: to be said again should it break.
struct owing_connection {
    connection redis;
    std::vector<last_word> words{};
    std::optional<clock::time_point> since{};  // when something was owed that nobody waited for; empty: nothing is
};

}  // namespace tranca
