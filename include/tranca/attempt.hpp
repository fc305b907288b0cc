#pragma once

// One attempt to acquire, with every outcome settled: ours, busy, or an error that says whether it is in doubt.
//
//     return attempt_once(std::make_shared<lock_lease>(pool, name, rules), steps::one,
//                         [&](connection& redis, const token& mine) { return set_if_absent(redis, mine); });
//
// Promises: a lease is counted from before the first command was sent; a grant that comes when nothing is left of it is
// given back; in a Cluster it is made where the key lives, also if that changes meanwhile, and a node that asks for it is asked
// again for as long as command_timeout; an attempt whose outcome is unknown is undone on a connection of its own, within a budget
// of its own, and reported as an error, never as busy; a lock is not taken by an account that may not release it.
// Does not promise that a command still under way in the network cannot arrive after its undoing: then `in_doubt()` is
// true and the ttl is the backstop.

#include <memory>
#include <optional>
#include <utility>

#include <tranca/connection_pool.hpp>
#include <tranca/error.hpp>
#include <tranca/guard.hpp>
#include <tranca/lease.hpp>

namespace tranca {

/// How many commands with an effect an attempt sends, one after another's answer. After the first of several, any failure
/// leaves something behind.
enum class steps { one, several };

namespace detail {

/// Throws no_permission if the account may not run the release script; asked once per client, by Sentinel once per master, in a
/// Cluster once per node. Up to one round trip.
void require_release_rights(const lease& candidate);

/// The same by this connection, if it is by Sentinel and leads to another master than the one that was tried.
void require_release_rights(const lease& candidate, connection& redis);

/// Is the server away, for a caller that waits until `deadline`? It, or another in its place, may answer again before that. Not
/// for a wait without end on what never answered anything: more likely the address is wrong. Pure.
[[nodiscard]] bool is_outage(const connection_pool& pool, const error& failure, clock::time_point deadline) noexcept;

/// Undoes what a failed attempt may have done, then throws what happened - or returns, when it is certain that nothing is
/// left and the connection had merely broken, so that another attempt can be made.
void settle_failure(const lease& candidate, const error& failure, steps count, bool first);

/// In a Cluster: has another node been named, or is this one to be asked again? Then what several steps left is undone first.
[[nodiscard]] bool goes_on_in_cluster(const lease& candidate, const error& failure, steps count, connection& used,
                                      detour& way);

/// Gives a grant back that came too late, and throws errc::timeout.
[[noreturn]] void give_back_late_grant(const lease& candidate);

}  // namespace detail

/// See the top of this file. `try_once(connection, token)` returns whether the server granted it.
template <class TryOnce>
std::optional<guard> attempt_once(std::shared_ptr<lease> candidate, steps count, TryOnce&& try_once) {
    detail::require_release_rights(*candidate);
    detour way;
    for (bool first = true;;) {
        auto redis = candidate->pool().borrow(candidate->name().bytes(), way);
        const auto sent = clock::now();
        try {
            detail::require_release_rights(*candidate, *redis);
            if (!try_once(*redis, candidate->owner())) return std::nullopt;
        } catch (const error& failure) {
            if (detail::goes_on_in_cluster(*candidate, failure, count, *redis, way)) continue;
            detail::settle_failure(*candidate, failure, count, first);
            first = false;
            continue;
        }
        candidate->begin(sent);
        if (!candidate->held()) detail::give_back_late_grant(*candidate);
        return guard{std::move(candidate)};
    }
}

}  // namespace tranca
