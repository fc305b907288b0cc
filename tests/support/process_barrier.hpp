// process_barrier: a meeting point of several processes or threads.
//
//     shared_memory<process_barrier> start{8};
//     child_process worker{[&] { ASSERT_TRUE(start->wait(5s)); work(); }};
//
// Can be used again and again. wait() is false when the others did not come in time; then the barrier is spoilt for
// good, which is what a dead worker should lead to.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "support/deadline.hpp"

namespace tranca::testing {

class process_barrier {
public:
    explicit process_barrier(std::uint64_t parties) : parties_{parties} {}

    [[nodiscard]] bool wait(std::chrono::milliseconds limit) {
        const std::uint64_t ticket = arrived_.fetch_add(1);
        const std::uint64_t all_here = (ticket / parties_ + 1) * parties_;
        return eventually(limit, [&] { return arrived_.load() >= all_here; });
    }

    [[nodiscard]] std::uint64_t arrived() const { return arrived_.load(); }

private:
    std::uint64_t parties_;
    std::atomic<std::uint64_t> arrived_{0};
};

}  // namespace tranca::testing
