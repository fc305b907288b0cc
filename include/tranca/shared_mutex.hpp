#pragma once

// Many readers or one writer at a time, across processes and machines that share a Redis.
//
//     tranca::shared_mutex prices{redis, "prices"};
//     auto reading = prices.shared().acquire();              // beside other readers
//     auto writing = prices.acquire();                       // alone
//
// Promises:
// - Readers share, a writer excludes. Each holder has a lease of its own, renewed every ttl / 3: a reader that crashes
//   keeps writers out for its own ttl, and a contender with another ttl touches nobody's.
// - A writer that waits keeps new readers out; one that gives up lets them in again; one that died, two seconds after its
//   last sign of life. READERS MAY STARVE while there is always another writer.
// - One round trip an operation, each one step on the server, by the server's time only, the same however often it is sent:
//   an answer that was lost is asked for again. Each costs O(1), but for a walk through the holders when a lease may have
//   ended (about once a ttl), and through the writers that wait when one of them waits no longer.
// - Waiting is that of the mutex: asleep until woken, hints with a timer behind them. A release wakes a writer if one waits
//   and nobody holds; otherwise readers, each of which wakes on as it enters.
// - A writer's guard becomes a reader's (downgrade) and a reader's a writer's (try_upgrade) in one step, with nobody in
//   between. While an upgrade waits no new reader enters; a second one is refused, so that two cannot wait for each other.
//   A change that was given up and comes late does nothing.
// Fences: each writer gets a number larger than all before. The readers since the last writer share ONE number, minted by
// the first of them (or by the downgrade): larger than that writer's, so that a resource that checks reads as well refuses
// a late writer; and the same for all of them, since with one number each, whoever reads with the newest would have the
// resource refuse the others, who are in the right. Not to be told apart by it, then: a reader that is late from one that
// is not, as long as no writer has come. After the promotion of a replica that lags, readers may share a number that the
// resource has already refused, until the next writer.
// Does not promise what no lease can: see mutex.hpp on pauses, clock jumps of the server and asynchronous replicas. Does not
// promise order among those who want the same. Threads of one process do not queue inside it. A reader that acquires as a
// writer, instead of upgrading, waits for itself.
// `replicas` holds for acquiring; a downgrade and an upgrade are not waited for on the replicas.
// Keys: prefix + name, a hash, while it is held (a mutex or a semaphore of that name is told of the wrong type, and
// leaves it alone; find_locks() does not list it); {prefix + name}:state for a day after its last use.
// The account needs +@scripting, the commands time hmget hgetall hset hdel hlen exists del pttl pexpire llen
// lpush blpop, and (to end a wait at once) client|info client|unblock client|kill.
// Source: the rules of the semaphore and of model m7; POSIX and ISO C++ shared mutexes for upgrade and downgrade.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tranca/polling.hpp>
#include <tranca/shared_lease.hpp>
#include <tranca/waiting.hpp>

namespace tranca {

/// A holder as it was found, for people.
struct shared_holder {
    std::string label;
    lock_mode mode;
    std::uint64_t fence;
    milliseconds remaining;  ///< Of its lease, unless it is renewed.
};

namespace detail {

/// The four ways to acquire a readers/writer lock in one mode.
template <class Side, lock_mode Mode>
class shared_polling : public polling<Side> {
protected:
    explicit shared_polling(std::shared_ptr<const shared_core> core)
        : polling<Side>(core->pool, core->name, pause_after_refusal), core_(std::move(core)) {}

    [[nodiscard]] std::optional<guard> attempt() const { return try_now(candidate()); }

    [[nodiscard]] std::optional<guard> attempt(clock::time_point deadline, const std::stop_token& stop) const {
        return clock::now() >= deadline ? attempt() : wait_for(candidate(), deadline, stop);
    }

    std::shared_ptr<const shared_core> core_;

private:
    // Before another attempt while the server is in a state that passes by itself.
    static constexpr milliseconds pause_after_refusal{10};

    [[nodiscard]] std::shared_ptr<contender> candidate() const { return std::make_shared<shared_lease>(core_, Mode); }
};

}  // namespace detail

/// The readers' side of a shared_mutex: const, thread-safe, holds nothing itself. The four ways to acquire are those of
/// every primitive.
class shared_side : public detail::shared_polling<shared_side, lock_mode::shared> {
public:
    explicit shared_side(std::shared_ptr<const shared_core> core) : shared_polling(std::move(core)) {}

private:
    friend polling<shared_side>;
};

/// See the top of this file. Const, thread-safe, holds nothing itself. The four ways to acquire are those of every
/// primitive, as the writer: acquire, try_acquire, try_acquire_for, try_acquire_until. For readers: shared().
class shared_mutex : public detail::shared_polling<shared_mutex, lock_mode::exclusive> {
public:
    /// Throws errc::invalid_argument for a bad name or option. No I/O.
    shared_mutex(const client& redis, std::string_view name, const shared_options& options = {})
        : shared_polling(make_shared_core(redis.pool(), main_key_for(options.prefix, name), options)) {}

    /// The same lock for readers. A value; may outlive this one. No I/O.
    [[nodiscard]] shared_side shared() const { return shared_side{core_}; }

    /// Makes a writer's guard a reader's: readers may enter at once, no other writer in between. Its fence() is a new one
    /// then, and that of the readers who come; a reader's guard stays as it is. False: lost. Throws
    /// errc::invalid_argument for a guard of another lock, and error when Redis cannot be asked: it holds on then, at least
    /// as a reader. One round trip.
    [[nodiscard]] bool downgrade(guard& held) const;

    /// Makes a reader's guard the writer's, with a new, larger fence(), if no other reader is in. Its lease goes on as it
    /// was, and is lost or released as before. Throws errc::invalid_argument for a guard of another lock, and error when
    /// Redis cannot be asked: it holds on then, at least as a reader. One round trip.
    [[nodiscard]] upgrade_result try_upgrade(guard& held) const {
        return try_upgrade_until(held, clock::time_point::min(), {});
    }

    /// The same, but waits for the other readers to leave; none enters meanwhile. Cannot deadlock: if another one waits to
    /// upgrade, it is refused at once. Throws as above; also in a state of the server that passes by itself.
    template <class Rep, class Period>
    [[nodiscard]] upgrade_result try_upgrade_for(guard& held, std::chrono::duration<Rep, Period> wait,
                                                 const std::stop_token& stop = {}) const {
        const auto rounded = ceil_milliseconds(wait);
        require_not_negative(rounded, "the wait");
        return try_upgrade_until(held, deadline_after(rounded), stop);
    }

    /// The same until a point in time; one in the past: one attempt.
    [[nodiscard]] upgrade_result try_upgrade_until(guard& held, clock::time_point deadline,
                                                   const std::stop_token& stop = {}) const;

    /// Who holds it now. One round trip; the server walks through all holders. It may have changed already.
    [[nodiscard]] std::vector<shared_holder> holders() const;

private:
    friend polling<shared_mutex>;
};

}  // namespace tranca
