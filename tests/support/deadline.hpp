// deadline: bounded waiting and measuring, so that no test sleeps for luck.
//
//     EXPECT_TRUE(eventually(2s, [&] { return raw.exists("lock:a") == 0; }));
//     const stopwatch since_start;
//     EXPECT_LT(since_start.elapsed(), 300ms);
//
// Everything here reads the steady clock.
#pragma once

#include <chrono>
#include <thread>
#include <utility>

namespace tranca::testing {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

class stopwatch {
public:
    [[nodiscard]] steady::duration elapsed() const { return steady::now() - start_; }
    [[nodiscard]] milliseconds elapsed_ms() const { return std::chrono::duration_cast<milliseconds>(elapsed()); }
    void restart() { start_ = steady::now(); }

private:
    steady::time_point start_{steady::now()};
};

class deadline {
public:
    explicit deadline(steady::duration limit) : end_{steady::now() + limit} {}

    [[nodiscard]] steady::time_point time() const { return end_; }
    [[nodiscard]] bool expired() const { return steady::now() >= end_; }

    [[nodiscard]] steady::duration left() const {
        const auto rest = end_ - steady::now();
        return rest < steady::duration::zero() ? steady::duration::zero() : rest;
    }

private:
    steady::time_point end_;
};

// Asks `predicate` every millisecond until it answers true (-> true) or `limit` is over (-> its last answer).
template <typename Predicate>
[[nodiscard]] bool eventually(steady::duration limit, Predicate&& predicate) {
    const deadline end{limit};
    while (true) {
        const bool last_try = end.expired();
        if (predicate()) {
            return true;
        }
        if (last_try) {
            return false;
        }
        std::this_thread::sleep_for(milliseconds{1});
    }
}

// The opposite: true if `predicate` never failed during the whole of `span`. Costs that span; keep it short.
template <typename Predicate>
[[nodiscard]] bool throughout(steady::duration span, Predicate&& predicate) {
    return !eventually(span, [&] { return !predicate(); });
}

inline constexpr int attempts_at_a_bound = 5;

// True if `measured`, which returns how long it took, was below `limit` in one of some attempts. For bounds so close that a
// machine that stands still for a moment breaks them: what is at fault is too slow every time.
template <typename Measured>
[[nodiscard]] bool once_below(steady::duration limit, Measured&& measured) {
    for (int attempt = 0; attempt < attempts_at_a_bound; ++attempt) {
        if (measured() < limit) {
            return true;
        }
    }
    return false;
}

}  // namespace tranca::testing
