// overlap_counter: how many workers are inside a critical section at once, and how often that was too many.
//
//     shared_memory<overlap_counter> overlap{1};           // limit; threads need no shared memory
//     overlap->enter(worker);  overlap->leave(worker);     // worker: 0 .. 63
//     EXPECT_EQ(overlap->overruns(), 0u);
//
// One bit a worker in a single atomic word, so that a count is exact and a worker killed inside leaves nothing worse
// than its bit: the parent calls clear(worker) once that worker is reaped, before its lock can expire.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace tranca::testing {

class overlap_counter {
public:
    static constexpr std::size_t most_workers = 64;

    explicit overlap_counter(std::size_t limit) : limit_{limit} {}

    // How many are inside now, this worker included.
    std::size_t enter(std::size_t worker) {
        const std::uint64_t mine = bit(worker);
        const std::uint64_t before = inside_.fetch_or(mine);
        if ((before & mine) != 0) {
            twice_.fetch_add(1);
        }
        const auto count = static_cast<std::size_t>(std::popcount(before | mine));
        entries_.fetch_add(1);
        if (count > limit_) {
            overruns_.fetch_add(1);
        }
        raise_maximum(count);
        return count;
    }

    void leave(std::size_t worker) { inside_.fetch_and(~bit(worker)); }

    // For a worker that died: true if it was inside.
    bool clear(std::size_t worker) { return (inside_.fetch_and(~bit(worker)) & bit(worker)) != 0; }

    [[nodiscard]] std::size_t inside() const { return static_cast<std::size_t>(std::popcount(inside_.load())); }
    [[nodiscard]] std::size_t maximum() const { return maximum_.load(); }
    [[nodiscard]] std::uint64_t overruns() const { return overruns_.load(); }
    [[nodiscard]] std::uint64_t entries() const { return entries_.load(); }
    [[nodiscard]] std::uint64_t entered_twice() const { return twice_.load(); }  // a worker met itself: misuse

private:
    static std::uint64_t bit(std::size_t worker) {
        if (worker >= most_workers) {
            throw std::out_of_range{"overlap_counter: worker must be below 64"};
        }
        return std::uint64_t{1} << worker;
    }

    void raise_maximum(std::size_t count) {
        std::size_t known = maximum_.load();
        while (known < count && !maximum_.compare_exchange_weak(known, count)) {
        }
    }

    std::size_t limit_;
    std::atomic<std::uint64_t> inside_{0};
    std::atomic<std::size_t> maximum_{0};
    std::atomic<std::uint64_t> overruns_{0};
    std::atomic<std::uint64_t> entries_{0};
    std::atomic<std::uint64_t> twice_{0};

    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

// Inside for a scope.
class overlap_scope {
public:
    overlap_scope(overlap_counter& counter, std::size_t worker) : counter_{counter}, worker_{worker} {
        counter_.enter(worker_);
    }
    ~overlap_scope() { counter_.leave(worker_); }
    overlap_scope(const overlap_scope&) = delete;
    overlap_scope& operator=(const overlap_scope&) = delete;

private:
    overlap_counter& counter_;
    std::size_t worker_;
};

}  // namespace tranca::testing
