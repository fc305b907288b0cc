#include "measure/rungs.hpp"

#include <stdexcept>
#include <utility>

#include <tranca/helper_key.hpp>
#include <tranca/ladder/clock_semaphore.hpp>
#include <tranca/ladder/fair_semaphore.hpp>
#include <tranca/ladder/guarded_semaphore.hpp>
#include <tranca/ladder/naive_lock.hpp>
#include <tranca/ladder/px_lock.hpp>
#include <tranca/ladder/timeout_lock.hpp>
#include <tranca/multi_mutex.hpp>
#include <tranca/mutex.hpp>
#include <tranca/semaphore.hpp>
#include <tranca/shared_mutex.hpp>

namespace tranca::bench {
namespace {

constexpr int lock_ttl_ms = 10'000;         // the default of lease_options
constexpr int slot_ttl_ms = 24 * 3600'000;  // so that holders put there beforehand outlive the measurement

template <class Primitive>
cycle cycle_of(Primitive primitive) {
    return [primitive = std::move(primitive)] {
        auto held = primitive.try_acquire();
        if (!held) throw std::runtime_error("busy, though nobody else is there");
        if (held->release() != release_result::released) throw std::runtime_error("not ours at its release");
    };
}

template <class Lock>
rung lock_rung(std::string_view name, void (hand_written::*by_hand)(const std::string&, int)) {
    return {name, false, [](const client& redis, const std::string& key, int) { return cycle_of(Lock(redis, key)); },
            [by_hand](hand_written& hand, const std::string& key, int) -> cycle {
                return [&hand, by_hand, key = "lock:" + key] { (hand.*by_hand)(key, lock_ttl_ms); };
            }};
}

template <class Semaphore>
rung ladder_semaphore(std::string_view name, void (hand_written::*by_hand)(const std::string&, int, int)) {
    return {name, true,
            [](const client& redis, const std::string& key, int limit) {
                return cycle_of(Semaphore(redis, key, limit, {.lease = {.ttl = milliseconds(slot_ttl_ms)}}));
            },
            [by_hand](hand_written& hand, const std::string& key, int limit) -> cycle {
                return [&hand, by_hand, key, limit] { (hand.*by_hand)(key, limit, slot_ttl_ms); };
            }};
}

// Its hand-written form takes no ttl.
rung naive_rung() {
    return {"naive_lock", false,
            [](const client& redis, const std::string& key, int) { return cycle_of(ladder::naive_lock(redis, key)); },
            [](hand_written& hand, const std::string& key, int) -> cycle {
                return [&hand, key = "lock:" + key] { hand.naive_lock(key); };
            }};
}

// Its twin is the shortest lock that is safe to release: SET NX PX and a script that compares and deletes.
rung mutex_rung(std::string_view name, fencing numbers, release_mode release) {
    auto made = lock_rung<ladder::px_lock>(name, &hand_written::px_lock);
    made.by_library = [=](const client& redis, const std::string& key, int) {
        return cycle_of(mutex(redis, key, {.fencing = numbers, .release = release}));
    };
    return made;
}

}  // namespace

const std::vector<rung>& ladder_rungs() {
    static const std::vector<rung> rungs{
        naive_rung(),
        lock_rung<ladder::timeout_lock>("timeout_lock", &hand_written::timeout_lock),
        lock_rung<ladder::px_lock>("px_lock", &hand_written::px_lock),
        ladder_semaphore<ladder::clock_semaphore>("clock_semaphore", &hand_written::clock_semaphore),
        ladder_semaphore<ladder::fair_semaphore>("fair_semaphore", &hand_written::fair_semaphore),
        ladder_semaphore<ladder::guarded_semaphore>("guarded_semaphore", &hand_written::guarded_semaphore)};
    return rungs;
}

const std::vector<rung>& mutex_rungs() {
    static const std::vector<rung> rungs{mutex_rung("mutex", fencing::on, release_mode::immediate),
                                         mutex_rung("mutex unfenced", fencing::off, release_mode::immediate),
                                         mutex_rung("mutex deferred", fencing::on, release_mode::deferred),
                                         mutex_rung("mutex deferred unfenced", fencing::off, release_mode::deferred)};
    return rungs;
}

const std::vector<rung>& shared_rungs() {
    static const std::vector<rung> rungs = [] {
        auto writer = lock_rung<ladder::px_lock>("shared_mutex", &hand_written::px_lock);
        writer.by_library = [](const client& redis, const std::string& key, int) {
            return cycle_of(shared_mutex(redis, key));
        };
        auto reader = lock_rung<ladder::px_lock>("shared_mutex shared", &hand_written::px_lock);
        reader.by_library = [](const client& redis, const std::string& key, int) {
            return cycle_of(shared_mutex(redis, key).shared());
        };
        auto both = lock_rung<ladder::px_lock>("multi_mutex", &hand_written::px_lock);
        both.by_library = [](const client& redis, const std::string& key, int) {
            return cycle_of(multi_mutex(redis, {key, key + ":other"}));
        };
        both.by_hand = [](hand_written& hand, const std::string& key, int) -> cycle {
            return [&hand, first = "lock:" + key, second = "lock:" + key + ":other"] {
                hand.px_lock(first, lock_ttl_ms);
                hand.px_lock(second, lock_ttl_ms);
            };
        };
        return std::vector<rung>{writer, reader, both};
    }();
    return rungs;
}

const rung& semaphore_rung() {
    static const rung made = [] {
        auto one = ladder_semaphore<semaphore>("semaphore", &hand_written::counting_semaphore);
        one.by_library = [](const client& redis, const std::string& name, int limit) {
            // Not renewed: the cycle is what is measured.
            return cycle_of(semaphore(redis, name, limit, {.lease = {.renew_every = milliseconds(0)}}));
        };
        return one;
    }();
    return made;
}

void clear_rung(wire& redis, const std::string& name) {
    redis.ask("UNLINK", name, name + ":owner", name + ":counter");
    clear_lock(redis, "lock:" + name);
    clear_lock(redis, "lock:" + name + ":other");
    clear_semaphore(redis, "semaphore:" + name);
}

void clear_lock(wire& redis, const std::string& main_key) {
    redis.ask("UNLINK", main_key, helper_key(main_key, "fence"), helper_key(main_key, "wake"),
              helper_key(main_key, "wait"), helper_key(main_key, "queue"), helper_key(main_key, "state"));
}

void clear_semaphore(wire& redis, const std::string& main_key) {
    redis.ask("UNLINK", main_key, helper_key(main_key, "state"), helper_key(main_key, "wake"),
              helper_key(main_key, "turn"), helper_key(main_key, "queue"));
}

}  // namespace tranca::bench
