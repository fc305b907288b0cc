#pragma once

// A connection that one thread makes and another may wait for.
//
//     if (auto found = pending->collect()) ...   // made, or failed
//
// Promises: whichever comes first, what was made is either collected or handed back to whoever made it. Thread-safe.

#include <mutex>
#include <optional>

#include <tranca/connection.hpp>
#include <tranca/error.hpp>

namespace tranca {

/// See the top of this file.
class pending_connection {
public:
    struct outcome {
        std::optional<connection> made{};
        std::optional<error> failure{};
    };

    /// `hopeful`: as far as is known, the node answers.
    explicit pending_connection(bool hopeful) noexcept : hopeful_(hopeful) {}
    [[nodiscard]] bool is_hopeful() const noexcept { return hopeful_; }

    /// What has come of it; empty: nothing yet. Once.
    [[nodiscard]] std::optional<outcome> collect();

    /// Fulfils it. Gives the connection back if there is nobody to collect it.
    [[nodiscard]] std::optional<connection> fulfil(outcome found);

    /// Nobody will collect it; what has come of it just now goes back to the node.
    [[nodiscard]] std::optional<connection> give_up() noexcept;
    [[nodiscard]] bool is_given_up() noexcept;

private:
    const bool hopeful_;
    std::mutex mutex_;
    std::optional<outcome> found_;
    bool given_up_ = false;
};

}  // namespace tranca
