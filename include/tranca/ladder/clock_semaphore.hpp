#pragma once

// Fourth rung: a sorted set of holders, ranked by the clocks on their walls.
//
//     tranca::ladder::clock_semaphore calls{redis, "semaphore:calls", 5, {.lease = {.ttl = 10s}}};
//     if (auto slot = calls.try_acquire()) call();
//
// Promises: with equal clocks and no delay between reading one and ranking, about `limit` holders; a crashed holder's slot
// comes free after its ttl.
// Flaws: **a client whose clock is slow ranks before the holders and steals a slot that is not free; one whose clock is fast
// expires the others.** Ten milliseconds are enough. Even with equal clocks, a client that is delayed after it read its own
// does the same. A refused attempt is in the set for a moment and can make others be refused. Since its time is its
// rank, a slot cannot be extended by more than the ttl of its semaphore: that is refused.
// Cure: fair_semaphore, the next rung: a counter orders the holders.
// Interoperates with the book's acquire_semaphore (same key, same member, same score).
// The set has no ttl of its own: holders that crash stay in it until the next attempt throws them out.
// Source: Redis in Action, section 6.3.1, listings 6.12 and 6.13.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tranca/ladder/semaphore_options.hpp>
#include <tranca/polling.hpp>

namespace tranca::ladder {

/// See the top of this file.
class clock_semaphore : public polling<clock_semaphore> {
public:
    /// Throws errc::invalid_argument for a bad name, limit or option. No I/O.
    clock_semaphore(const client& redis, std::string_view name, std::int64_t limit, semaphore_options options = {})
        : polling(redis, semaphore_key(name), options.poll),
          limit_(limit),
          rules_(ladder_rules(options.lease)),
          now_(options.now ? std::move(options.now) : std::chrono::system_clock::now) {
        require_limit(limit);
    }

private:
    friend polling<clock_semaphore>;

    [[nodiscard]] std::optional<guard> attempt() const {
        return attempt_once(std::make_shared<slot_lease>(pool(), main_key(), std::string{}, rules_, now_),
                            steps::several, [&](connection& redis, const token& mine) { return enter(redis, mine); });
    }

    // One round trip when there is room, two when there is none.
    [[nodiscard]] bool enter(connection& redis, const token& mine) const {
        const auto now = now_();
        request steps{"ZREMRANGEBYSCORE", main_key(), "-inf", book_seconds(now - rules_.ttl())};
        steps.add("ZADD", main_key(), book_seconds(now), mine).add("ZRANK", main_key(), mine);
        if (redis.transaction(steps)[2].integer() < limit_) return true;
        redis.command(request{"ZREM", main_key(), mine});
        return false;
    }

    std::int64_t limit_;
    lease_clock rules_;
    wall_clock now_;
};

}  // namespace tranca::ladder
