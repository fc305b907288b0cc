#pragma once

// Counts the votes of n independent nodes, and tells as soon as it is decided. Pure: nothing is sent, no clock is read.
//
//     tranca::tally votes{5};                                   // needs tranca::tally::majority_of(5) == 3
//     votes.count(tranca::vote::confirmed);
//     if (votes.state() == tranca::tally::stand::won) ...
//
// Promises: a majority is more than half, of an even number too (3 of 4); every complete set of votes is decided; what is
// decided does not change by later votes; a node that does not answer counts against, and against nothing else.
// Does not promise that a vote stays true: a node that loses its memory forgets what it voted.

#include <cstddef>

namespace tranca {

/// What one node said to the question "is it mine?".
enum class vote {
    confirmed,  ///< Yes, and the fencing number is its largest one now.
    granted,    ///< Yes, but its fencing number is not smaller than the one proposed.
    refused,    ///< No.
    silent,     ///< Nothing, or something that is no answer.
};

/// See the top of this file. A value.
class tally {
public:
    /// More than half.
    [[nodiscard]] static constexpr std::size_t majority_of(std::size_t nodes) noexcept { return nodes / 2 + 1; }

    /// `needed`: how many must confirm; a majority at least, all at most.
    constexpr tally(std::size_t nodes, std::size_t needed) noexcept : pending_(nodes), needed_(needed), nodes_(nodes) {}
    explicit constexpr tally(std::size_t nodes) noexcept : tally(nodes, majority_of(nodes)) {}

    /// One more vote; no more than there are nodes.
    constexpr void count(vote one) noexcept {
        --pending_;
        if (one == vote::confirmed) ++confirmed_;
        if (one == vote::granted) ++granted_;
        if (one == vote::refused) ++refused_;
        if (one == vote::silent) ++silent_;
    }

    /// Nobody else will vote.
    constexpr void close() noexcept {
        silent_ += pending_;
        pending_ = 0;
    }

    enum class stand {
        open,   ///< A vote to come may decide.
        won,    ///< Enough have confirmed.
        raise,  ///< Enough have said yes, but too few can still confirm: a second round may.
        lost,   ///< Too few can still say yes.
    };

    [[nodiscard]] constexpr stand state() const noexcept {
        if (confirmed_ >= needed_) return stand::won;
        if (said_yes() + pending_ < needed_) return stand::lost;
        const bool can_be_confirmed = confirmed_ + pending_ >= needed_;
        return can_be_confirmed || said_yes() < needed_ ? stand::open : stand::raise;
    }

    /// Lost whatever anybody holds: too many were silent.
    [[nodiscard]] constexpr bool is_unreachable() const noexcept { return nodes_ - silent_ < needed_; }

    /// Lost whoever was silent: too many said no.
    [[nodiscard]] constexpr bool is_refused() const noexcept { return nodes_ - refused_ < needed_; }

    [[nodiscard]] constexpr std::size_t confirmed() const noexcept { return confirmed_; }
    [[nodiscard]] constexpr std::size_t said_yes() const noexcept { return confirmed_ + granted_; }
    [[nodiscard]] constexpr std::size_t refused() const noexcept { return refused_; }
    [[nodiscard]] constexpr std::size_t silent() const noexcept { return silent_; }
    [[nodiscard]] constexpr std::size_t pending() const noexcept { return pending_; }
    [[nodiscard]] constexpr std::size_t nodes() const noexcept { return nodes_; }
    [[nodiscard]] constexpr std::size_t needed() const noexcept { return needed_; }

private:
    std::size_t pending_;
    std::size_t needed_;
    std::size_t nodes_;
    std::size_t confirmed_ = 0;
    std::size_t granted_ = 0;
    std::size_t refused_ = 0;
    std::size_t silent_ = 0;
};

}  // namespace tranca
