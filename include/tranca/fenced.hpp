#pragma once

// The other half of a fencing number: a resource that refuses whoever holds an older one.
//
//     auto held = invoices.acquire();
//     auto total = tranca::fenced_read(redis, "ledger", *held.fence());      // from now on no older holder can write
//     tranca::fenced_write(redis, "ledger", *held.fence(), change(total));   // false: a newer holder was here
//
// Promises: the largest number that ever read or wrote wins; an older one is refused, on reads too, since a reader that is
// overtaken between its reading and its writing loses an update just the same.
// Does not promise anything about a resource that is changed without it.
//
// The same in SQL, for a table `ledger(id, fence, value)`; each refuses by touching no row:
//
//     UPDATE ledger SET fence = :fence                   WHERE id = :id AND fence <= :fence;   -- before reading
//     SELECT value FROM ledger                           WHERE id = :id AND fence  = :fence;
//     UPDATE ledger SET fence = :fence, value = :value   WHERE id = :id AND fence <= :fence;
//
// Source: model m6; M. Kleppmann, "How to do distributed locking" (2016).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tranca/client.hpp>
#include <tranca/key.hpp>

namespace tranca {

/// What a fenced read found.
struct fenced_value {
    bool refused = false;                ///< A newer fence was here: the reader's lock is no longer its own.
    std::optional<std::string> value{};  ///< Empty if nothing was ever written.
};

/// Writes, unless a newer fence has read or written. False: refused, and nothing was changed. Kept as a hash with the
/// fields `fence` and `value`. Throws error; errc::wrong_type for another kind of key. One round trip; safe to repeat.
[[nodiscard]] bool fenced_write(const client& redis, std::string_view resource, std::uint64_t fence,
                                std::string_view value);

/// Reads, and bars every older fence from now on. Throws as above. One round trip.
[[nodiscard]] fenced_value fenced_read(const client& redis, std::string_view resource, std::uint64_t fence);

}  // namespace tranca
