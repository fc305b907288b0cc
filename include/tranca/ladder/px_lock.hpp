#pragma once

// Third rung: SET NX PX - existence and time-out in one command.
//
//     tranca::ladder::px_lock market{redis, "market:", {.lease = {.ttl = 10s}}};
//     if (auto held = market.try_acquire_for(10s)) sell();
//
// Promises: a crashed holder blocks the others for its ttl, never longer; a loser changes nothing on the server.
// Flaws: it polls; it has no fencing number, so a holder paused past its ttl can still write; a lost answer is settled as
// far as that goes (attempt.hpp), the rest - `in_doubt()` - is the caller's problem.
// Cure: tranca::mutex.
// Interoperates with any client of the SET NX PX recipe; with an empty prefix, with redis-py's own Lock on the same key.
// Source: Redis documentation, SET, "Patterns"; Redis in Action, section 6.2.5.

#include <memory>
#include <optional>
#include <string_view>

#include <tranca/ladder/lock_options.hpp>
#include <tranca/polling.hpp>

namespace tranca::ladder {

/// See the top of this file.
class px_lock : public polling<px_lock> {
public:
    /// Throws errc::invalid_argument for a bad name or option. No I/O.
    px_lock(const client& redis, std::string_view name, const lock_options& options = {})
        : polling(redis, prefixed_key(options.prefix, name), options.poll), rules_(ladder_rules(options.lease)) {}

private:
    friend polling<px_lock>;

    // One round trip: SET NX PX.
    [[nodiscard]] std::optional<guard> attempt() const {
        return attempt_once(
            std::make_shared<lock_lease>(pool(), main_key(), rules_), steps::one,
            [&](connection& redis, const token& mine) {
                return redis.command(request{"SET", main_key(), mine, "NX", "PX", rules_.ttl()}).is_ok();
            });
    }

    lease_clock rules_;
};

}  // namespace tranca::ladder
