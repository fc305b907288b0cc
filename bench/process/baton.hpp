#pragma once

// The start and stop signs that a crew of worker processes shares with its parent, in shared memory.
//
// A worker calls arrive() when it is connected and returns from it when all of its crew are; it works until stopped().
// Promises no more than that: no ordering between workers.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <limits>

namespace tranca::bench {

class baton {
public:
    /// Worker: ready; returns when the parent said go.
    void arrive() noexcept {
        ready_.fetch_add(1);
        // Asleep, not asking again and again: hundreds of workers would leave no processor for those still to come. Not
        // atomic::wait, whose futex is private to one process.
        while (go_.load(std::memory_order_acquire) == 0)
            ::syscall(SYS_futex, &go_, FUTEX_WAIT, 0, nullptr, nullptr, 0);
    }

    [[nodiscard]] bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

    /// Parent.
    [[nodiscard]] int arrived() const noexcept { return ready_.load(); }
    void go() noexcept {
        go_.store(1, std::memory_order_release);
        ::syscall(SYS_futex, &go_, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
    }
    void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

private:
    std::atomic<int> ready_{0};
    std::atomic<std::uint32_t> go_{0};
    std::atomic<bool> stop_{false};
};

}  // namespace tranca::bench
