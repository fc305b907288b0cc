#pragma once

// Options of the semaphore rungs, and what those rungs hold on the server.
//
//     tranca::ladder::fair_semaphore calls{redis, "calls:acme", 5, {.lease = {.ttl = 10s}}};
//
// Promises: bad values are refused when the semaphore is made, before anything is sent.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <tranca/key.hpp>
#include <tranca/ladder/lock_options.hpp>
#include <tranca/lease.hpp>
#include <tranca/scripts.hpp>

namespace tranca::ladder {

/// The clock on the client's wall, which these rungs trust - that is their flaw. Injected, so that skew can be shown.
using wall_clock = std::function<std::chrono::system_clock::time_point()>;

/// How a semaphore rung behaves. All contenders for a name must use the same ttl: each throws out holders by its own.
struct semaphore_options {
    lease_options lease{};  ///< As for the lock rungs.
    milliseconds poll{1};   ///< The pause between attempts of a waiter.
    wall_clock now{};       ///< Empty: std::chrono::system_clock::now.
};

/// Seconds since 1970 with six decimals, as the book's clients write their scores. Pure.
[[nodiscard]] std::string book_seconds(std::chrono::system_clock::time_point time);

/// Throws errc::invalid_argument unless the limit is positive. No I/O.
void require_limit(std::int64_t limit);

/// The key of a semaphore: its name, as in the book. Throws errc::invalid_argument for an empty name, for braces that form no
/// hash tag, and for the endings ":owner" and ":counter", which are keys of the semaphore without them. No I/O.
[[nodiscard]] key semaphore_key(std::string_view name);

/// A member of the set of holders, and of the set that orders them where there is one.
class slot_lease final : public lease {
public:
    slot_lease(std::shared_ptr<connection_pool> pool, key holders, std::string order, const lease_clock& rules,
               wall_clock now);

    [[nodiscard]] const script& release_script() const noexcept override { return scripts::release_slot(); }
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override;

private:
    // The stored time is that of the start: a ttl other than the usual one moves it.
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override;

    std::string order_;
    wall_clock now_;
};

}  // namespace tranca::ladder
