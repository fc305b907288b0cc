#pragma once

// First rung: SETNX, and nothing else.
//
//     tranca::ladder::naive_lock market{redis, "market:"};
//     if (auto held = market.try_acquire_for(10s)) sell();
//
// Promises: while nobody crashes, at most one holder; release deletes only its own key, in one step.
// Flaw: **a holder that crashes keeps the lock for ever** - the key has no ttl, and nobody else may delete it.
// Cure: timeout_lock, the next rung.
// Interoperates with the book's acquire_lock / release_lock on the same key.
// Source: Redis in Action, section 6.2.3, listings 6.8 to 6.10.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tranca/ladder/lock_options.hpp>
#include <tranca/polling.hpp>

namespace tranca::ladder {

/// How a naive lock behaves: it has no ttl.
struct naive_lock_options {
    std::string prefix = "lock:";  ///< The book's. The key is prefix + name.
    milliseconds poll{1};          ///< The pause between attempts of a waiter; the book's.
};

/// See the top of this file. Its guard has no end: safe_until() is the end of time, lost() never comes by itself, and
/// extend() only asks whether the lock is still ours.
class naive_lock : public polling<naive_lock> {
public:
    /// Throws errc::invalid_argument for a bad name or option. No I/O.
    naive_lock(const client& redis, std::string_view name, const naive_lock_options& options = {})
        : polling(redis, prefixed_key(options.prefix, name), options.poll) {}

private:
    friend polling<naive_lock>;

    // One round trip: SETNX.
    [[nodiscard]] std::optional<guard> attempt() const {
        return attempt_once(std::make_shared<lock_lease>(pool(), main_key(), lease_clock::endless()), steps::one,
                            [&](connection& redis, const token& mine) {
                                return redis.command(request{"SETNX", main_key(), mine}).integer() == 1;
                            });
    }
};

}  // namespace tranca::ladder
