#pragma once

// One holder at a time, across processes and machines that share a Redis. The lock to put in production.
//
//     tranca::mutex invoices{redis, "invoices"};
//     tranca::guard held = invoices.acquire();              // waits without polling
//     tranca::fenced_write(redis, "ledger", *held.fence(), total);   // refused if somebody newer was there
//
// Promises:
// - One round trip to acquire, one to release (none, with release_mode::deferred); each is one step on the server.
// - A waiter sleeps until it is woken; a hand-over takes one trip. Threads of one process (of one client, that is, with the
//   same options) queue inside it and pass the lock on without a round trip, at most 64 times in a row or
//   for a millisecond.
// - Renewed every ttl / 3 while the guard lives, by one thread for all locks of a client. lost() is requested before the
//   key can expire, whether Redis hangs, dies, fails over, forgets or gives the key to somebody else.
// - Fencing numbers grow with every grant, also over expiry, FLUSHALL, a restart without persistence and the promotion of
//   a replica that lags - unless the counter is lost *and* the server's clock is behind the last number.
// - An answer that was lost is asked for again with the same token: never "busy" when it is ours. What cannot be settled
//   is an error that says in_doubt().
// - A wait goes on while the server restarts, is replaced by another that Sentinel names or that takes its place in a Cluster, or
//   while its slot moves; see polling.hpp, cluster_endpoint.hpp.
// What each fault costs: a holder that crashes blocks the others for its ttl; a waiter that crashes or freezes while it is
// woken, for a second at most (or, if it was given the lock, for its ttl); a frozen server, as long as it is frozen, and its
// holder is told of the loss in time.
// Does not promise mutual exclusion by itself once a process is paused for longer than its ttl, the server's clock jumps, or
// an asynchronous replica is promoted: no lock with a ttl can. The fence, checked by the resource, covers those.
// Does not promise strict order between processes; the one that crashes in the queue harms nobody.
// The account needs +@scripting, the commands get set del time pttl pexpire exists llen lpush blpop, and (to end a wait at
// once) client|info client|unblock client|kill, on the keys prefix* and {prefix*; `replicas` needs wait or waitaof, Sentinel
// role, fairness the zset commands of README, "Rights".
// Source: Redis documentation, SET and "Distributed locks"; the models m6, m7, m8 and m10.

#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include <tranca/lock_state.hpp>
#include <tranca/mutex_lease.hpp>
#include <tranca/polling.hpp>
#include <tranca/waiting.hpp>

namespace tranca {

/// See the top of this file. Const, thread-safe, holds nothing itself; those of one client, name and options share one
/// queue. The four ways to acquire are those of every primitive: acquire, try_acquire, try_acquire_for, try_acquire_until.
class mutex : public polling<mutex> {
public:
    /// Throws errc::invalid_argument for a bad name or option. No I/O.
    mutex(const client& redis, std::string_view name, const mutex_options& options = {})
        : polling(redis, main_key_for(options.prefix, name), pause_after_refusal),
          core_(make_mutex_core(pool(), main_key(), options)) {}

    /// Who holds it, for how long, and does anybody wait? One round trip. Only for people: it may have changed already.
    [[nodiscard]] lock_state inspect() const { return inspect_lock(*pool(), main_key()); }

    /// WARNING: takes the lock from whoever holds it, who may be in the middle of its work and finds out with its next
    /// renewal. For an operator who knows that the holder is gone. True: it was held, and the holder seen is gone. Only that one
    /// is removed, not one that came after. Two round trips, three if an answer is lost.
    bool force_release() const { return force_release_of(*core_); }

private:
    friend polling<mutex>;

    // Before another attempt while the server is in a state that passes by itself.
    static constexpr milliseconds pause_after_refusal{10};

    [[nodiscard]] std::optional<guard> attempt() const { return attempt(clock::time_point::min(), {}); }

    [[nodiscard]] std::optional<guard> attempt(clock::time_point deadline, const std::stop_token& stop) const {
        if (core_->is_fair()) return ask(std::make_shared<mutex_lease>(core_), deadline, stop);
        const auto queue = core_->queue->inherited() ? gate_of(*pool(), main_key(), core_->kind) : core_->queue;
        for (;;) {
            auto entry = queue->enter(deadline, stop, pool()->closing());
            if (entry.turn) return ask_for_all(queue, deadline, stop);
            if (!entry.handed) return std::nullopt;
            guard held{std::move(entry.handed)};
            if (held) return held;
            // It slept past the lease it was handed: released here, and queued again.
        }
    }

    // For the threads that queue in this process.
    [[nodiscard]] std::optional<guard> ask_for_all(const std::shared_ptr<gate>& queue, clock::time_point deadline,
                                                   const std::stop_token& stop) const {
        gate_turn turn{*queue};
        const auto candidate = std::make_shared<mutex_lease>(core_);
        candidate->queued_at(queue);
        auto held = ask(candidate, deadline, stop);
        if (held) turn.won(candidate);
        return held;
    }

    [[nodiscard]] static std::optional<guard> ask(const std::shared_ptr<mutex_lease>& candidate,
                                                  clock::time_point deadline, const std::stop_token& stop) {
        return clock::now() >= deadline ? try_now(candidate) : wait_for(candidate, deadline, stop);
    }

    std::shared_ptr<const mutex_core> core_;
};

}  // namespace tranca
