#include "handoff/handoff.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "process/crew.hpp"
#include "process/shared_array.hpp"
#include "raw/wire.hpp"

namespace tranca::bench {
namespace {

using steady = std::chrono::steady_clock;

constexpr int uncounted = 3;  // rounds that do not count: connections are made, scripts loaded
constexpr int over = -1;

std::int64_t nanoseconds_now() { return std::chrono::nanoseconds(steady::now().time_since_epoch()).count(); }

// What the two processes tell each other. Each sign is the number of the round it belongs to.
struct signs_between {
    std::atomic<int> held{0};                  // the holder has the lock; or `over`
    std::atomic<int> asking{0};                // the other is about to ask for it
    std::atomic<int> passed{0};                // the other has had it and gave it back
    std::atomic<std::int64_t> released_at{0};  // 0: not yet in this round
    histogram taken;
};

// False: the stop sign came.
template <class Condition>
bool wait_until(const baton& signs, const Condition& condition) {
    while (!condition()) {
        if (signs.stopped()) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
}

void give_back(guard held) {
    if (held.release() != release_result::released) throw std::runtime_error("the lock was lost during a hand-over");
}

// It sleeps through the hold: the other may need its processor to get as far as waiting.
void hold_and_release(const acquiring& acquire, signs_between& shared, const baton& signs) {
    for (int round = 1; !signs.stopped(); ++round) {
        auto held = acquire();
        shared.held = round;
        const bool asked = wait_until(signs, [&] { return shared.asking == round; });
        std::this_thread::sleep_for(rest);
        shared.released_at = nanoseconds_now();
        give_back(std::move(held));
        if (!asked || !wait_until(signs, [&] { return shared.passed == round; })) break;
    }
    shared.held = over;
}

void wait_and_take(const acquiring& acquire, signs_between& shared, const baton& signs) {
    for (int round = 1;; ++round) {
        while (shared.held != round && shared.held != over)
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (shared.held == over) return;
        shared.asking = round;
        auto held = acquire();
        const auto now = nanoseconds_now();
        const auto begun = shared.released_at.load();
        if (begun == 0) throw std::runtime_error("two processes held the lock at once");
        if (round > uncounted && !signs.stopped()) shared.taken.record(static_cast<std::uint64_t>(now - begun));
        give_back(std::move(held));
        shared.released_at = 0;
        shared.passed = round;
    }
}

}  // namespace

histogram measure_handoff(const handoff_order& order) {
    shared_array<signs_between> shared(1);
    run_crew({.size = 2,
              .length = std::chrono::duration<double>(order.seconds),
              .work =
                  [&](int index, baton& signs) {
                      const client redis(order.where);
                      const auto acquire = order.make(redis, order.name);
                      signs.arrive();
                      if (index == 0) hold_and_release(acquire, shared[0], signs);
                      else wait_and_take(acquire, shared[0], signs);
                  },
              .where = order.workers,
              .tick = order.tick});
    return shared[0].taken;
}

histogram measure_round_trip(const handoff_order& order) {
    shared_array<histogram> taken(1);
    run_crew({.size = 1,
              .length = std::chrono::duration<double>(order.seconds),
              .work =
                  [&](int, baton& signs) {
                      wire redis(order.where);
                      redis.ask("PING");
                      signs.arrive();
                      while (!signs.stopped()) {
                          std::this_thread::sleep_for(rest);
                          const auto begun = nanoseconds_now();
                          redis.ask("PING");
                          taken[0].record(static_cast<std::uint64_t>(nanoseconds_now() - begun));
                      }
                  },
              .where = order.workers,
              .tick = order.tick});
    return taken[0];
}

}  // namespace tranca::bench
