#pragma once

// Fifth rung: a counter on the server orders the holders; clocks only expire them.
//
//     tranca::ladder::fair_semaphore calls{redis, "semaphore:calls", 5, {.lease = {.ttl = 10s}}};
//     if (auto slot = calls.try_acquire()) call();
//
// Promises: a slow clock steals no slot; whoever took its number first ranks first.
// Flaws: **the counter is taken in one round trip and the rank read in the next: with one slot left, two clients can both
// get in**, when the one with the later number ranks itself first. A clock that is fast by more than the ttl still expires
// others. The cost grows with the number of holders (ZINTERSTORE). The counter stays for ever, one key a name; at 2^53
// the semaphore refuses to go on (errc::server), since scores are doubles.
// Cure: guarded_semaphore, the next rung.
// Interoperates with the book's acquire_fair_semaphore: NAME holds the times, NAME:owner the order, NAME:counter the numbers.
// On Redis Cluster give the name a hash tag, as in "{calls}": the three keys must share a slot.
// Source: Redis in Action, sections 6.3.2 and 6.3.3, listings 6.14 to 6.16.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tranca/ladder/semaphore_options.hpp>
#include <tranca/polling.hpp>

namespace tranca::ladder {

/// See the top of this file.
class fair_semaphore : public polling<fair_semaphore> {
public:
    /// Throws errc::invalid_argument for a bad name, limit or option. No I/O.
    fair_semaphore(const client& redis, std::string_view name, std::int64_t limit, semaphore_options options = {})
        : polling(redis, semaphore_key(name), options.poll),
          order_(std::string{name} + ":owner"),
          counter_(std::string{name} + ":counter"),
          limit_(limit),
          rules_(ladder_rules(options.lease)),
          now_(options.now ? std::move(options.now) : std::chrono::system_clock::now) {
        require_limit(limit);
    }

private:
    friend polling<fair_semaphore>;

    [[nodiscard]] std::optional<guard> attempt() const {
        return attempt_once(std::make_shared<slot_lease>(pool(), main_key(), order_, rules_, now_), steps::several,
                            [&](connection& redis, const token& mine) { return enter(redis, mine); });
    }

    // Two round trips when there is room, three when there is none. Between the two is this rung's flaw.
    [[nodiscard]] bool enter(connection& redis, const token& mine) const {
        if (take_rank(redis, mine, take_number(redis)) < limit_) return true;
        static_cast<void>(redis.transaction(request{"ZREM", main_key(), mine}.add("ZREM", order_, mine)));
        return false;
    }

    // Throws out the expired, carries that over to the order, and takes the next number.
    [[nodiscard]] std::int64_t take_number(connection& redis) const {
        request steps{"ZREMRANGEBYSCORE", main_key(), "-inf", book_seconds(now_() - rules_.ttl())};
        steps.add("ZINTERSTORE", order_, 2, order_, main_key(), "WEIGHTS", 1, 0).add("INCR", counter_);
        const auto number = redis.transaction(steps)[2].integer();
        if (number >= last_exact_score)
            throw error(errc::server,
                        "the counter \"" + printable(counter_) + "\" has reached 2^53: ranks are no longer exact");
        return number;
    }

    [[nodiscard]] std::int64_t take_rank(connection& redis, const token& mine, std::int64_t number) const {
        request steps{"ZADD", main_key(), book_seconds(now_()), mine};
        steps.add("ZADD", order_, number, mine).add("ZRANK", order_, mine);
        return redis.transaction(steps)[2].integer();
    }

    // Scores are doubles; from here on two numbers may share one, and then names decide who was first.
    static constexpr std::int64_t last_exact_score = std::int64_t{1} << 53;

    std::string order_;
    std::string counter_;
    std::int64_t limit_;
    lease_clock rules_;
    wall_clock now_;
};

}  // namespace tranca::ladder
