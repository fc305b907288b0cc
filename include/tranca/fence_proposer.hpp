#pragma once

// Which fencing number a client proposes to nodes that have no common counter.
//
//     tranca::fence_proposer fences;
//     auto mine = fences.propose(now);        // microseconds since 1970, by this machine's wall clock
//     fences.learn(seen, now);                // the largest number in any answer
//
// Promises: larger than everything learned; close to what the other clients propose, even if this machine's clock is
// behind theirs, so that nodes can confirm it in the first round.
// Does not promise to be the largest, nor to be proposed once: that is what the nodes are asked for. A wrong clock costs a
// round trip, never order.
// Pure but for its own memory. Thread-safe.

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tranca {

class fence_proposer {
public:
    [[nodiscard]] std::uint64_t propose(std::uint64_t now) const noexcept {
        return std::max(now + behind_.load(), largest_.load() + 1);
    }

    void learn(std::uint64_t seen, std::uint64_t now) noexcept {
        raise(largest_, seen);
        if (seen > now) raise(behind_, seen - now);
    }

    [[nodiscard]] std::uint64_t largest() const noexcept { return largest_.load(); }

private:
    static void raise(std::atomic<std::uint64_t>& what, std::uint64_t to) noexcept {
        auto known = what.load();
        while (known < to && !what.compare_exchange_weak(known, to)) {
        }
    }

    std::atomic<std::uint64_t> largest_{0};
    std::atomic<std::uint64_t> behind_{0};  // how far this clock is behind the foremost one, in microseconds
};

}  // namespace tranca
