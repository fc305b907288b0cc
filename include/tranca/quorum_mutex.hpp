#pragma once

// One holder at a time, over n independent Redis masters, of which a minority may be down: Redlock, with a fence.
//
//     tranca::quorum_mutex invoices{{a, b, c}, "invoices"};          // three clients, three masters without replicas
//     tranca::guard held = invoices.acquire();
//     tranca::fenced_write(ledger, "ledger", *held.fence(), total);  // refused if somebody newer was there
//
// Promises:
// - Written to all nodes before any is read; decided by the first majority (n / 2 + 1) of answers, also in the negative.
//   One round trip while the clocks of the clients agree roughly (see fence_proposer.hpp), or else a second one.
// - A node that is dead, refuses, hangs or is slow costs its vote and nothing else. Only where the others do not decide
//   does one that hangs cost time_limit, once: until it answers again, nobody waits for it. It is reconnected in the
//   background, and what may have been granted there late is taken back.
// - A minority never grants, and what it granted is released. The lease is counted from before the first byte was sent,
//   less precision, drift and margin; a grant with nothing left of it is an error, and is taken back.
// - Fencing numbers grow with every grant, whatever clocks, delays, pauses and lost messages do, as long as no node loses
//   its memory: two majorities share a node, and each node stores only what is strictly larger than before.
// - Renewed every ttl / 3 while the guard lives; lost() comes in time if a majority is not there to confirm. extend()
//   needs a majority: false if one has said no, an error if that cannot be known; then the old lease runs on.
// - release() goes to all nodes, also those that were silent; `released` if a majority had it, `unknown` if a majority
//   did not answer within time_limit. What was not answered goes on being said in the background until the key expires.
// Does not promise what Redlock cannot. M. Kleppmann, "How to do distributed locking" (2016): exclusion rests on bounded
// pauses, delays and clock errors, and nothing bounds them; the process that stopped between its check and its write
// writes all the same. S. Sanfilippo, "Is Redlock safe?" (2016): delays before the grant are covered, since validity is
// checked after the answers; what comes later is the same for every lock with a ttl; clocks need equal rates, not equal
// times. Both are right: here, too, clocks may not jump and a holder may not be paused beyond safe_until(), or two believe
// they hold. What Kleppmann asks for, and Redlock has not, is the fence: a resource that refuses smaller numbers is safe
// then. The fence itself needs neither clocks nor leases.
// Memory: a node that restarts without it (no persistence, or fsync everysec and a power cut) votes a second time. Keep
// it down for the longest ttl before it serves again, or let it fsync always; against fences in the wrong order, ask for
// confirmations::one_more: with w confirmations of n, majority m, k nodes may forget as long as w - k + m > n. A master
// with replicas that take over is such a node.
// Does not promise to wake waiters: there is no list that a majority shares. Threads of one process queue inside it, and
// the first of each process asks again after random pauses of up to 64 ms. No fairness between processes.
// Costs: commands on all nodes, one thread and a few connections for each client once it is used, one thread for renewals.
// The account needs what that of a mutex needs, on each node.
// Source: Redis documentation, "Distributed locks"; the model m9.

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include <tranca/backoff.hpp>
#include <tranca/chance.hpp>
#include <tranca/helper_key.hpp>
#include <tranca/pause.hpp>
#include <tranca/polling.hpp>
#include <tranca/quorum_lease.hpp>

namespace tranca {

/// See the top of this file. Const, thread-safe, holds nothing itself. The four ways to acquire are those of every
/// primitive: acquire, try_acquire, try_acquire_for, try_acquire_until. Events go to the first client's sink.
class quorum_mutex : public polling<quorum_mutex> {
public:
    using clients = std::vector<std::reference_wrapper<const client>>;

    /// Throws errc::invalid_argument for no nodes, the same one twice, one that sentinels choose, or a bad name or option.
    /// No I/O.
    quorum_mutex(std::initializer_list<std::reference_wrapper<const client>> nodes, std::string_view name,
                 const quorum_options& options = {})
        : quorum_mutex(clients{nodes}, name, options) {}
    quorum_mutex(std::span<const client> nodes, std::string_view name, const quorum_options& options = {})
        : quorum_mutex(clients{nodes.begin(), nodes.end()}, name, options) {}
    quorum_mutex(const clients& nodes, std::string_view name, const quorum_options& options = {})
        : polling(first_of(nodes), main_key_for(options.prefix, name), pause_after_refusal),
          core_(make_quorum_core(pools_of(nodes), main_key(), options)) {}

    /// How the vote for a guard of a quorum_mutex went; empty for any other guard, and for one that holds nothing. No I/O.
    [[nodiscard]] static std::optional<quorum_vote> votes_for(const guard& held) {
        const auto* const mine = dynamic_cast<const quorum_lease*>(held.held_lease().get());
        return mine == nullptr ? std::nullopt : std::optional{mine->votes()};
    }

private:
    friend polling<quorum_mutex>;

    // Before another attempt while the servers are in a state that passes by itself.
    static constexpr milliseconds pause_after_refusal{10};

    [[nodiscard]] static const client& first_of(const clients& nodes) {
        if (nodes.empty()) throw error(errc::invalid_argument, "a quorum needs one node at least");
        return nodes.front();
    }

    [[nodiscard]] static std::vector<std::shared_ptr<connection_pool>> pools_of(const clients& nodes) {
        std::vector<std::shared_ptr<connection_pool>> all;
        for (const client& each : nodes)
            all.push_back(each.pool());
        return all;
    }

    [[nodiscard]] std::optional<guard> attempt() const { return attempt(clock::time_point::min(), {}); }

    [[nodiscard]] std::optional<guard> attempt(clock::time_point deadline, const std::stop_token& stop) const {
        const auto queue = core_->queue->inherited() ? gate_of(*pool(), main_key(), core_->kind) : core_->queue;
        if (!queue->enter(deadline, stop, pool()->closing()).turn) return std::nullopt;
        gate_turn turn{*queue};
        for (unsigned tries = 0;; ++tries) {
            auto candidate = std::make_shared<quorum_lease>(core_);
            candidate->queued_at(queue);
            const auto found = candidate->attempt(stop);
            if (found.granted) {
                turn.won(candidate);
                return guard{std::move(candidate)};
            }
            const auto now = clock::now();
            if (now >= deadline || stop.stop_requested()) return std::nullopt;
            const auto pause = retry_pause(found.busy_for, tries, chance());
            if (!pause_until(pause < deadline - now ? now + pause : deadline, stop, pool()->closing()))
                return std::nullopt;
        }
    }

    std::shared_ptr<const quorum_core> core_;
};

}  // namespace tranca
