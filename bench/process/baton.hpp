#pragma once

// The start and stop signs that a crew of worker processes shares with its parent, in shared memory.
//
// A worker calls arrive() when it is connected and returns from it when all of its crew are; it works until stopped().
// Promises no more than that: no ordering between workers.

#include <atomic>
#include <chrono>
#include <thread>

namespace tranca::bench {

class baton {
public:
    /// Worker: ready; returns when the parent said go.
    void arrive() noexcept {
        ready_.fetch_add(1);
        // Not atomic::wait: its futex is private to one process.
        while (!go_.load(std::memory_order_acquire)) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }

    [[nodiscard]] bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

    /// Parent.
    [[nodiscard]] int arrived() const noexcept { return ready_.load(); }
    void go() noexcept { go_.store(true, std::memory_order_release); }
    void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

private:
    std::atomic<int> ready_{0};
    std::atomic<bool> go_{false};
    std::atomic<bool> stop_{false};
};

}  // namespace tranca::bench
