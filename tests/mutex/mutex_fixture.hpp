// mutex_fixture: the base of every test of the mutex: an empty server, a client that counts, the keys of "thing".
//
//     using Waiting = mutex_fixture;
//     TEST_F(Waiting, EndsWithTheHolder) { auto held = lock_with(1s).acquire(); ... EXPECT_TRUE(exists()); }
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <tranca/tranca.hpp>

#include "support/command_match.hpp"
#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"
#include "thrown_by.hpp"

namespace tranca::mutex_test {

using testing::eventually;
using testing::raw_client;
using testing::stopwatch;
using testing::throughout;
using testing::thrown_by;
using namespace std::chrono_literals;

inline const std::string lock_key = "lock:thing";
inline const std::string fence_key = "{lock:thing}:fence";
inline const std::string mark_key = "{lock:thing}:wait";
inline const std::string wake_key = "{lock:thing}:wake";

/// The usual options but for the ttl, and for the period of renewal (nullopt: ttl / 3).
[[nodiscard]] inline mutex_options lasting(milliseconds ttl, std::optional<milliseconds> renew_every = {}) {
    mutex_options made;
    made.lease.ttl = ttl;
    made.lease.renew_every = renew_every;
    return made;
}

[[nodiscard]] inline client_options told_to(const std::shared_ptr<counters>& numbers) {
    client_options made;
    made.sink = numbers;
    return made;
}

/// What extends: a script with one key (an acquire has three, a release too), or one command where the server has it.
[[nodiscard]] inline testing::command_match extension() {
    return testing::text_like("^(EVALSHA [0-9a-f]{40} 1 |SET .* IFEQ )");
}

/// What releases: a script with three keys, and nothing stands behind the token.
[[nodiscard]] inline testing::command_match releasing() {
    return testing::text_like("^EVALSHA [0-9a-f]{40} 3 .* [0-9a-f]{32}$");
}

/// The wall clock in milliseconds, as PEXPIRETIME tells it: server and test share a machine.
[[nodiscard]] inline std::int64_t wall_ms() {
    return std::chrono::floor<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class mutex_fixture : public testing::redis_fixture {
protected:
    [[nodiscard]] mutex lock_with(const mutex_options& options = {}) const { return mutex{redis, "thing", options}; }

    /// As another process would have it: a client, and so a queue, of its own.
    struct stranger {
        explicit stranger(const std::string& url, const mutex_options& options = {})
            : redis(url, told_to(told)), lock(redis, "thing", options) {}

        std::shared_ptr<counters> told = std::make_shared<counters>();
        client redis;
        mutex lock;
    };
    [[nodiscard]] std::unique_ptr<stranger> another(const mutex_options& options = {}) const {
        return std::make_unique<stranger>(server.url(), options);
    }

    [[nodiscard]] bool exists() { return raw.exists(lock_key) == 1; }
    [[nodiscard]] std::string token() { return raw.get(lock_key).value_or("").substr(0, 32); }
    /// Releases, and expects that the waiter is granted the lock at once.
    static void expect_wakes(guard& held, std::jthread& waiter, const std::optional<guard>& next) {
        const stopwatch since_release;
        held.release();
        waiter.join();
        EXPECT_TRUE(next);
        EXPECT_LT(since_release.elapsed(), 300ms);
    }
    [[nodiscard]] std::int64_t expires_at() { return raw.must({"PEXPIRETIME", lock_key}).integer; }
    void occupy(milliseconds ttl = 60s) { raw.set(lock_key, "foreign", ttl); }

    /// As the release of another process would: frees it and wakes the first waiter.
    void free_and_wake() {
        raw.must({"EVAL",
                  "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[2], 1) redis.call('PEXPIRE', KEYS[2], 2000)",
                  "2", lock_key, wake_key});
    }

    /// Until as many clients of the library sleep on the server.
    [[nodiscard]] bool wait_for_sleepers(std::int64_t count) {
        auto own = server.raw();
        return eventually(10s, [&] { return std::stoll(own.info("blocked_clients")) == count; });
    }

    std::shared_ptr<counters> told = std::make_shared<counters>();
    client redis{server.url(), told_to(told)};
};

}  // namespace tranca::mutex_test
