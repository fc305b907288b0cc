#pragma once

// One attempt to acquire, with every outcome settled: ours, busy, or an error that says whether it is in doubt.
//
//     return attempt_once(std::make_shared<lock_lease>(pool, name, rules), steps::one,
//                         [&](connection& redis, const token& mine) { return set_if_absent(redis, mine); });
//
// Promises: a lease is counted from before the first command was sent; a grant that comes when nothing is left of it is
// given back; an attempt whose outcome is unknown is undone on a connection of its own, within a budget of its own, and
// reported as an error, never as busy; a lock is not taken by an account that may not release it.
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

/// Throws no_permission if the account may not run the release script; asked once per client. Up to one round trip.
void require_release_rights(const lease& candidate);

/// Undoes what a failed attempt may have done, then throws what happened - or returns, when it is certain that nothing is
/// left and the connection had merely broken, so that another attempt can be made.
void settle_failure(const lease& candidate, const error& failure, steps count, bool first);

/// Gives a grant back that came too late, and throws errc::timeout.
[[noreturn]] void give_back_late_grant(const lease& candidate);

}  // namespace detail

/// See the top of this file. `try_once(connection, token)` returns whether the server granted it.
template <class TryOnce>
std::optional<guard> attempt_once(std::shared_ptr<lease> candidate, steps count, TryOnce&& try_once) {
    detail::require_release_rights(*candidate);
    for (bool first = true;; first = false) {
        auto redis = candidate->pool().borrow();
        const auto sent = clock::now();
        try {
            if (!try_once(*redis, candidate->owner())) return std::nullopt;
        } catch (const error& failure) {
            detail::settle_failure(*candidate, failure, count, first);
            continue;
        }
        candidate->begin(sent);
        if (!candidate->held()) detail::give_back_late_grant(*candidate);
        return guard{std::move(candidate)};
    }
}

}  // namespace tranca
