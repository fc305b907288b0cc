#pragma once

// Second rung: SETNX, then a time-out by a second command.
//
//     tranca::ladder::timeout_lock market{redis, "market:", {.lease = {.ttl = 10s}}};
//     if (auto held = market.try_acquire_for(10s)) sell();
//
// Promises: a holder that crashes blocks the others for its ttl - if it lived long enough to set it.
// Flaw: **existence and time-out are two steps.** A crash between them leaves a lock without ttl, which only a waiter
// repairs, with the waiter's own ttl. And both late steps can hit the wrong key: a repair, or the owner's own EXPIRE, that
// was under way while the lock changed hands sets the ttl of the *newer* owner's key - shortens it, and **two hold the lock**.
// Cure: px_lock, the next rung: one command does both.
// Interoperates with the book's acquire_lock_with_timeout; the ttl is set by PEXPIRE, so it is not rounded to seconds.
// The TTL command answers -1 for "no ttl", -2 for "no key" and 0 in the last half second: only -1 calls for the repair.
// Source: Redis in Action, section 6.2.5, listing 6.11, and its errata.

#include <memory>
#include <optional>
#include <string_view>

#include <tranca/ladder/lock_options.hpp>
#include <tranca/polling.hpp>

namespace tranca::ladder {

/// See the top of this file.
class timeout_lock : public polling<timeout_lock> {
public:
    /// Throws errc::invalid_argument for a bad name or option. No I/O.
    timeout_lock(const client& redis, std::string_view name, const lock_options& options = {})
        : polling(redis, prefixed_key(options.prefix, name), options.poll), rules_(ladder_rules(options.lease)) {}

private:
    friend polling<timeout_lock>;

    [[nodiscard]] std::optional<guard> attempt() const {
        return attempt_once(std::make_shared<lock_lease>(pool(), main_key(), rules_), steps::several,
                            [&](connection& redis, const token& mine) { return create(redis, mine) || repair(redis); });
    }

    // Two round trips. A crash between them is this rung's flaw.
    [[nodiscard]] bool create(connection& redis, const token& mine) const {
        if (redis.command(request{"SETNX", main_key(), mine}).integer() == 0) return false;
        redis.command(request{"PEXPIRE", main_key(), rules_.ttl()});
        return true;
    }

    // A loser gives a lock without ttl its own. One round trip, or two. Always false: the lock is not ours.
    [[nodiscard]] bool repair(connection& redis) const {
        constexpr int no_ttl = -1;
        if (redis.command(request{"TTL", main_key()}).integer() == no_ttl)
            redis.command(request{"PEXPIRE", main_key(), rules_.ttl()});
        return false;
    }

    lease_clock rules_;
};

}  // namespace tranca::ladder
