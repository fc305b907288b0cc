// fake_clock: a wall clock that moves only when the test says so.
//
//     fake_clock clock;                                   // stands still at the present time
//     semaphore_options options{.wall_clock = clock.skewed(-5s)};
//     clock.advance(11s);                                 // every copy and every skewed view moves
//
// Copies share one time. Thread-safe; not shared across fork().
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace tranca::testing {

using wall_time = std::chrono::system_clock::time_point;
using wall_clock_function = std::function<wall_time()>;

class fake_clock {
public:
    explicit fake_clock(wall_time start = std::chrono::system_clock::now())
        : ticks_{std::make_shared<std::atomic<ticks>>(start.time_since_epoch().count())} {}

    [[nodiscard]] wall_time operator()() const { return now(); }
    [[nodiscard]] wall_time now() const { return wall_time{wall_time::duration{ticks_->load()}}; }

    void set(wall_time time) { ticks_->store(time.time_since_epoch().count()); }
    void advance(wall_time::duration step) { ticks_->fetch_add(step.count()); }

    // The same clock as a machine sees it whose own clock is `offset` ahead (negative: behind).
    [[nodiscard]] wall_clock_function skewed(wall_time::duration offset) const {
        return [clock = *this, offset] { return clock.now() + offset; };
    }

private:
    using ticks = wall_time::rep;

    std::shared_ptr<std::atomic<ticks>> ticks_;
};

// The real wall clock, read on a machine whose clock is `offset` ahead (negative: behind).
[[nodiscard]] inline wall_clock_function skewed_wall_clock(wall_time::duration offset) {
    return [offset] { return std::chrono::system_clock::now() + offset; };
}

}  // namespace tranca::testing
