#pragma once

// One question put to the nodes of a quorum: written to all of them before the first answer is read.
//
//     ballot question{lines, call, until, cut};
//     for (std::size_t node = 0; node < lines.size(); ++node) question.put(node);
//     while (votes.state() == tally::stand::open)
//         if (auto heard = question.next()) count(*heard); else votes.close();
//
// Promises: next() tells each node's answer once, in the order in which they come in, and ends at `until`; a node that is
// unreachable, silent or broken costs nobody else a moment. An answer that comes later is read before its connection is
// used again. A connection at rest that turns out dead is replaced once, and so is an unknown script by its text.
// Thread safety: none.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <tranca/script.hpp>
#include <tranca/tally.hpp>

#include "quorum_lines.hpp"

struct pollfd;

namespace tranca {

/// What came in from a node: a reply that is no error, or why there is none.
struct node_answer {
    std::size_t node;
    std::optional<reply> said{};
    std::optional<error> failure{};
};

class ballot {
public:
    /// `cut`: asked now and then; true ends the wait. No I/O.
    ballot(quorum_lines& lines, script_call call, clock::time_point until, std::function<bool()> cut = {});
    ~ballot();
    ballot(const ballot&) = delete;
    ballot& operator=(const ballot&) = delete;

    /// Writes to it, or has a connection to it made.
    void put(std::size_t node);

    /// The next answer. Empty: nothing more will come, or the time is over, or it was cut short.
    [[nodiscard]] std::optional<node_answer> next();

    /// The next that has come in already. No wait.
    [[nodiscard]] std::optional<node_answer> already_heard();

    /// Counts nodes that are known not to answer as failed at once - if there are `needed` others.
    void skip_hopeless(std::size_t needed);

    /// False: nothing of it can have reached the node.
    [[nodiscard]] bool was_sent(std::size_t node) const noexcept { return seats_[node].sent; }

    /// Once it is decided: writes to those, too, to which a connection is just being made, so that it stands on more than a
    /// bare majority. Waits for a few times as long as it took until now, and not for nodes known not to answer.
    void reach_the_rest();

    /// How many answers are still to come.
    [[nodiscard]] std::size_t open() const noexcept;

private:
    enum class phase { unasked, connecting, asked, done };
    struct seat {
        phase now = phase::unasked;
        bool rested = false;   // its connection had been at rest, and may be dead
        bool sent = false;     // perhaps
        bool unheard = false;  // sent, and perhaps carried out, on a connection that broke
        bool by_text = false;  // the server did not know the script
        std::shared_ptr<pending_connection> pending{};
    };

    void write(std::size_t node, bool rested);
    void connect(std::size_t node);
    void stop_connecting(std::size_t node) noexcept;
    void look_at_connecting();
    void wait();
    void read(std::size_t node);
    void hear(std::size_t node, reply answer);
    void fail(std::size_t node, const error& failure);
    [[nodiscard]] const request& command(connection& redis);
    [[nodiscard]] bool is_over() const;
    [[nodiscard]] bool is_connecting() const noexcept;
    [[nodiscard]] milliseconds time_left() const;

    quorum_lines& lines_;
    script_call call_;
    clock::time_point begun_ = clock::now();
    clock::time_point until_;
    std::function<bool()> cut_;
    bool decided_ = false;
    std::optional<request> whole_;  // by hash, once it is known, or else by text
    std::vector<seat> seats_;
    std::deque<node_answer> heard_;
    std::vector<pollfd> polled_;
    std::vector<std::size_t> polled_nodes_;
};

/// What the answer of a node, or its failure, means for the vote.
using meaning = std::function<vote(const node_answer&)>;

/// Counts the answers until it is decided, and those that have come in by then.
void count_answers(ballot& question, tally& votes, const meaning& means);

}  // namespace tranca
