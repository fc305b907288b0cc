#pragma once

// What every lock and semaphore of this library can do, as a concept.
//
//     template <tranca::acquirable P> void run_alone(const P& lock) { auto held = lock.acquire(); ... }
//
// Promises of every model: const and thread-safe; holds nothing itself; busy is std::nullopt, failure is tranca::error; a
// wait is clipped to its deadline; no wait at all is exactly one attempt; a stop request ends a wait and leaves nothing
// behind (acquire then throws errc::stopped, the others return nullopt).

#include <concepts>
#include <optional>
#include <stop_token>

#include <tranca/guard.hpp>
#include <tranca/time.hpp>

namespace tranca {

template <class P>
concept acquirable = std::copy_constructible<P> &&
    requires(const P& primitive, milliseconds wait, clock::time_point deadline, std::stop_token stop) {
    { primitive.acquire() } -> std::same_as<guard>;
    { primitive.acquire(stop) } -> std::same_as<guard>;
    { primitive.try_acquire() } -> std::same_as<std::optional<guard>>;
    { primitive.try_acquire_for(wait) } -> std::same_as<std::optional<guard>>;
    { primitive.try_acquire_for(wait, stop) } -> std::same_as<std::optional<guard>>;
    { primitive.try_acquire_until(deadline) } -> std::same_as<std::optional<guard>>;
    { primitive.try_acquire_until(deadline, stop) } -> std::same_as<std::optional<guard>>;
};

/// A lock that has a side for readers too, an acquirable of its own.
template <class P>
concept shareable = acquirable<P> && requires(const P& primitive) {
    { primitive.shared() } -> acquirable;
};

}  // namespace tranca
