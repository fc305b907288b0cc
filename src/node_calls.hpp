#pragma once

// Scripts at the nodes of a Cluster in which their keys live: those of one node in one write.
//
//     node_calls round{pool, parts};
//     round.run(until);
//     if (const auto* answer = round.answer(0)) ...        // nullptr: its node could not be asked
//
// Promises: MOVED and ASK are followed, five times at most; a node that cannot be asked keeps nobody from the others. Other error
// replies are answers.
// Does not wait for what passes by itself: run() may be called again, and asks those that have no answer, or one of that kind.
// Not thread-safe; the calls must outlive it.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <tranca/connection_pool.hpp>
#include <tranca/script.hpp>

namespace tranca {

class node_calls {
public:
    node_calls(connection_pool& pool, const std::vector<const script_call*>& parts);

    /// As many round trips as nodes, and those that redirections take.
    void run(std::optional<clock::time_point> until);

    [[nodiscard]] const reply* answer(std::size_t index) const noexcept;

    /// Has each an answer that asking again would not change? No I/O.
    [[nodiscard]] bool settled() const;

    /// Has one been sent whose answer was lost? No I/O.
    [[nodiscard]] bool unheard() const noexcept { return unheard_; }

    /// worst_of() the answers. Throws what an error reply says, and why a node could not be asked; in doubt if anything may have
    /// been done.
    [[nodiscard]] reply worst() &&;

private:
    struct part {
        const script_call* call;
        std::string_view key;
        detour way{};
        std::optional<reply> answer{};
        bool open = true;  // to be asked in this run
    };

    [[nodiscard]] std::vector<part*> take_those_of_one_node();
    void ask(const std::vector<part*>& some, std::optional<clock::time_point> until);
    void hear(part& one, reply answer, const connection& redis);

    connection_pool& pool_;
    std::vector<part> parts_;
    std::optional<error> failure_;
    bool unheard_ = false;
};

/// A call of several parts, until all have an answer, or for as long as `deadline` or command_timeout says; the answer is
/// worst_of() theirs, and an error is thrown. Unless it is safe to send one `again`, one whose answer was lost ends it.
[[nodiscard]] reply run_by_node(connection_pool& pool, const repeatable_call& call,
                                std::optional<clock::time_point> deadline, resend again);

}  // namespace tranca
