#pragma once

// A lease that is still to be won: what is sent to ask for it, and what the answer means.
//
//     class mutex_lease final : public tranca::contender { ... acquire_call(waits) ... hear(answer) ... wake_list() ... };
//
// Promises: the same request may be sent again with the same token; whoever finds its own token has won.
// Pure but for what a lease does.

#include <cstdint>
#include <optional>
#include <string_view>

#include <tranca/lease.hpp>
#include <tranca/replicas.hpp>

namespace tranca {

/// See the top of this file.
class contender : public lease {
public:
    using lease::lease;

    /// Asks for it. `waits`: if busy, leave the mark that makes the next release wake somebody.
    [[nodiscard]] virtual script_call acquire_call(bool waits) const = 0;

    /// Is there a cheaper way to ask for one that does not wait?
    [[nodiscard]] virtual bool may_ask_plainly() const noexcept { return false; }

    /// Does an attempt in vain that waits leave something that keeps others out? Then a waiter that gives up takes it back
    /// by a release.
    [[nodiscard]] virtual bool leaves_a_claim() const noexcept { return false; }

    /// Has it a place in a line, which the server keeps for so long after each time it asked? Then it is woken first and asks
    /// afterwards, so that nothing is granted to one who does not answer.
    [[nodiscard]] virtual std::optional<milliseconds> waiter_lease() const noexcept { return std::nullopt; }

    /// How many replicas must have it before it counts as granted.
    [[nodiscard]] virtual tranca::replicas wanted_replicas() const noexcept { return {}; }

    /// What the server said.
    struct verdict {
        bool granted = false;
        milliseconds busy_for{0};  ///< What is left of the holder's lease; milliseconds::max(): it has no end.
    };

    /// Busy for so many milliseconds, as the scripts tell it: a negative number is a lease without an end. Pure.
    [[nodiscard]] static verdict busy(std::int64_t left) noexcept {
        return {.granted = false, .busy_for = left < 0 ? milliseconds::max() : milliseconds{left}};
    }

    /// Reads the answer to acquire_call(); throws errc::protocol for anything else.
    virtual verdict hear(const reply& answer) = 0;

    /// The list that a waiter blocks on.
    [[nodiscard]] virtual std::string_view wake_list() const = 0;
};

}  // namespace tranca
