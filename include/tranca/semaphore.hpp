#pragma once

// At most so many holders at a time, across processes and machines that share a Redis. The semaphore for production.
//
//     tranca::semaphore calls{redis, "calls:acme", 5};
//     tranca::guard one = calls.acquire();                  // one.slot() is a number from 0 to 4 that nobody else has
//     tranca::guard three = calls.weighted(3).acquire();    // three at once, all or nothing
//
// Promises:
// - Never more than the limit, whatever the clients' clocks say: one script on the server counts, and inserts if there is
//   room. Cost: O(log n), and a little for each holder that has expired since; never a walk through holders or slots.
// - Each holder has a lease of its own, renewed every ttl / 3; a contender with another ttl touches nobody's. A holder that
//   crashes blocks its slots for its own ttl. Renewing and releasing never bring a lost holder back.
// - Each permit is a slot with a number below the limit, held by nobody else: an index for a shard or a connection. Slots
//   given back are given out again, the last one first.
// - Fencing numbers grow with every grant, so those of every slot grow too. Let the resource of each *slot* check them: one
//   check for all slots would refuse holders who are in the right.
// - Waiting is that of the mutex: asleep until woken, as many woken as slots are free, hints with a timer behind them. While
//   one who wants several waits, room is kept for it (two seconds after its last sign of life), so that small requests do not
//   starve it; of several such, one after another.
// - The limit is recorded on the server. A contender whose limit is neither the one declared first nor the one in force is
//   refused with errc::limit_differs. An answer that was lost is asked for again: the same slots, the same fence.
// Does not promise what no lease can: see mutex.hpp on pauses, clock jumps of the server and asynchronous replicas. If the
// state is evicted while the holders are not, each of them counts as one, whatever it took, and slots may be given twice until
// all have left.
// Does not promise order among those who want the same. Threads of one process do not queue inside it: several may hold.
// Keys: prefix + name until a minute after its last holder's end; {prefix + name}:state for a day after its last use.
// The account needs +@scripting, the commands time zadd zrem zcard zscore zrange zrangebyscore hget hmget hset hdel hincrby
// del pexpireat pexpire llen lpush blpop, and (to end a wait at once) client|info client|unblock client|kill. With fairness
// also set pttl exists zrevrange.
// Source: the models m3, m6b and m7 (count, never rank; a fence for each slot; push while fewer wake-ups lie than are free).

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/permit_lease.hpp>
#include <tranca/polling.hpp>
#include <tranca/waiting.hpp>

namespace tranca {

/// A holder as it was found, for people.
struct permit_holder {
    std::string label;
    std::vector<std::int64_t> slots;
    std::uint64_t fence;
    milliseconds remaining;  ///< Of its lease, unless it is renewed.
};

/// See the top of this file. Const, thread-safe, holds nothing itself. The four ways to acquire are those of every
/// primitive: acquire, try_acquire, try_acquire_for, try_acquire_until.
class semaphore : public polling<semaphore> {
public:
    /// The largest weight: a grant names every slot.
    static constexpr std::int64_t largest_weight = 1'000;

    /// Throws errc::invalid_argument for a bad name or option, or unless 0 < limit <= 2^31. No I/O.
    semaphore(const client& redis, std::string_view name, std::int64_t limit, const permit_options& options = {})
        : polling(redis, main_key_for(options.prefix, name), pause_after_refusal),
          core_(make_permit_core(pool(), main_key(), limit, options)) {}

    /// The same semaphore, but each acquisition takes `count` permits at once. Throws errc::invalid_argument unless
    /// 0 < count <= limit() and largest_weight. No I/O.
    [[nodiscard]] semaphore weighted(std::int64_t count) const;

    /// What this object declares; set_limit() may have put another one in force. No I/O.
    [[nodiscard]] std::int64_t limit() const noexcept { return core_->limit; }

    /// How many permits an acquisition takes. No I/O.
    [[nodiscard]] std::int64_t weight() const noexcept { return weight_; }

    /// How many permits are free; who has expired does not count. One round trip. It may have changed already.
    [[nodiscard]] std::int64_t available() const;

    /// Who holds it, the first to expire first. One round trip; the server walks through all holders.
    [[nodiscard]] std::vector<permit_holder> holders() const;

    /// Puts another limit in force, for everybody. Below the number held now: nobody is thrown out, and nobody new enters
    /// until fewer are held. Contenders may declare the old limit or the new one. Throws as the constructor, and error.
    /// One round trip; the server walks through all holders and slots.
    void set_limit(std::int64_t limit) const;

private:
    friend polling<semaphore>;

    // Before another attempt while the server is in a state that passes by itself.
    static constexpr milliseconds pause_after_refusal{10};

    [[nodiscard]] std::optional<guard> attempt() const { return try_now(candidate()); }

    [[nodiscard]] std::optional<guard> attempt(clock::time_point deadline, const std::stop_token& stop) const {
        return clock::now() >= deadline ? attempt() : wait_for(candidate(), deadline, stop);
    }

    [[nodiscard]] std::shared_ptr<contender> candidate() const {
        return std::make_shared<permit_lease>(core_, weight_);
    }

    std::shared_ptr<const permit_core> core_;
    std::int64_t weight_ = 1;
};

}  // namespace tranca
