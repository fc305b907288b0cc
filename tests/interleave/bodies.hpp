// bodies: what clients of most scenarios do, and with which options.
//
//     .clients = {[](part& me) { hold_if_free(me, mutex{me.redis(), "thing", lock_options}, claim::mode::exclusive); }}
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interleave/scenario.hpp"

namespace tranca::interleave {

using namespace std::chrono_literals;

// Longer than any schedule runs: nothing ends but by a schedule's decision, and nothing is renewed.
inline constexpr std::chrono::milliseconds long_ttl = 60s;

template <class Options>
[[nodiscard]] Options with_long_lease() {
    Options made;
    made.lease.ttl = long_ttl;
    made.lease.renew_every = 0ms;
    return made;
}

// One attempt.
template <class Primitive>
void hold_if_free(part& me, const Primitive& primitive, claim::mode how, std::vector<std::string> names = {"it"}) {
    auto held = primitive.try_acquire();
    if (!held) return me.is_refused();
    me.holds(*held, {std::move(names), how});
}

// Waits for it.
template <class Primitive>
void hold_when_free(part& me, const Primitive& primitive, claim::mode how, std::vector<std::string> names = {"it"}) {
    auto held = primitive.try_acquire_for(long_ttl, me.stop());
    if (!held) return me.notes("gives up");
    me.holds(*held, {std::move(names), how});
}

[[nodiscard]] inline body twice(const body& what) {
    return [what](part& me) {
        what(me);
        what(me);
    };
}

[[nodiscard]] inline std::vector<body> times(std::size_t count, const body& what) {
    return std::vector<body>(count, what);
}

// No lock lies there.
[[nodiscard]] inline auto no_key(std::string name) {
    return [name = std::move(name)](testing::raw_client& raw) { return raw.exists(name) == 0; };
}

}  // namespace tranca::interleave
