#pragma once

// Run something while holding something.
//
//     auto total = tranca::with(lock, [&](tranca::guard& held) { return sum(); });
//     tranca::with(lock, [&] { update(); });
//
// Promises: the body runs only while held; its own exception comes through unchanged, also if the release fails; if the
// lease ran out before the body was done, lease_lost is thrown, since what it did may have overlapped with another holder's.
// Does not promise to stop the body when the lease is lost: give it the guard and let it look at lost().

#include <concepts>
#include <functional>
#include <utility>

#include <tranca/acquirable.hpp>
#include <tranca/error.hpp>

namespace tranca {

namespace detail {

/// Throws lease_lost unless `held` still holds or was given up on purpose. No I/O.
inline void require_held(const guard& held) {
    if (!held && !held.given_up()) throw lease_lost("the lease ended before the work it protected");
}

}  // namespace detail

/// Acquires (waiting for as long as it takes), runs `body(guard&)` or `body()`, releases, and returns what it returned.
/// Throws what the body throws, lease_lost, or error when Redis cannot be asked. A body that released the guard itself is
/// taken to know what it does. Round trips: acquire() and one.
template <class Body>
    requires std::invocable<Body, guard&> || std::invocable<Body>
decltype(auto) with(const acquirable auto& primitive, Body&& body) {
    guard held = primitive.acquire();
    const auto run = [&]() -> decltype(auto) {
        if constexpr (std::invocable<Body, guard&>) return std::invoke(std::forward<Body>(body), held);
        else return std::invoke(std::forward<Body>(body));
    };
    if constexpr (std::is_void_v<decltype(run())>) {
        run();
        detail::require_held(held);
    } else {
        decltype(auto) result = run();
        detail::require_held(held);
        return result;
    }
}

}  // namespace tranca
