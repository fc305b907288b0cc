// shared_fixture: the base of the tests of tranca::shared_mutex.
//
//     class Readers : public shared_fixture {};
//     TEST_F(Readers, Share) { auto reading = readers().acquire(); ... }
//
// An empty server, a client, and what the server keeps of the lock "thing".
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <tranca/tranca.hpp>

#include "support/deadline.hpp"
#include "support/redis_fixture.hpp"

namespace tranca::shared_mutex_test {

using namespace std::chrono_literals;
using testing::eventually;
using testing::stopwatch;
using testing::throughout;

inline constexpr milliseconds patience = 10s;  // for what happens at once unless something is broken

inline const std::string main_key = "lock:thing";
inline const std::string state_key = "{lock:thing}:state";

/// Renewed by hand only.
[[nodiscard]] inline shared_options lasting(milliseconds ttl) {
    return {.lease = {.ttl = ttl, .renew_every = 0ms}, .label = "me"};
}

/// What `body` threw, if it was an error of the library.
[[nodiscard]] inline std::optional<errc> reason_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const error& failure) {
        return failure.reason();
    }
    return std::nullopt;
}

class shared_fixture : public testing::redis_fixture {
protected:
    [[nodiscard]] shared_mutex lock_for(milliseconds ttl) const { return {redis, "thing", lasting(ttl)}; }

    [[nodiscard]] std::int64_t holders() { return std::max<std::int64_t>(0, fields() - 2); }
    [[nodiscard]] std::int64_t fields() { return raw.must({"HLEN", main_key}).integer; }
    [[nodiscard]] std::string token_of_the_first() {
        for (const auto& field : raw.must({"HKEYS", main_key}).items)
            if (field.text.size() == 32) return field.text;
        return {};
    }
    [[nodiscard]] std::string entry(const std::string& token) { return raw.must({"HGET", main_key, token}).text; }
    [[nodiscard]] std::int64_t server_time() {
        const auto time = raw.must({"TIME"});
        return std::stoll(time[0].text) * 1'000 + std::stoll(time[1].text) / 1'000;
    }

    /// As if the time of all were over.
    void let_lapse() {
        for (const auto& field : raw.must({"HKEYS", main_key}).items)
            if (field.text.size() == 32) raw.must({"HSET", main_key, "first", "1", field.text, "1|1|0|me"});
    }
    /// Waits until so many sleep on the server.
    [[nodiscard]] bool asleep(int waiters) {
        return eventually(patience, [&] { return raw.info("blocked_clients") == std::to_string(waiters); });
    }

    client redis{server.url()};
    const shared_mutex lock{lock_for(10s)};
    const shared_side readers{lock.shared()};
};

/// Somebody who waits on a thread of its own, and what came of it. Asks to stop when destroyed.
class waiter {
public:
    /// With a client of its own, as another process would have.
    template <class Wait>
    waiter(const std::string& url, Wait wait)
        : thread_{[this, url, wait](const std::stop_token& stop) {
              const client own{url};
              failure_ = reason_of([&] { held_ = wait(shared_mutex{own, "thing", lasting(10s)}, stop); });
              done_ = true;
              static_cast<void>(eventually(60s, [&] { return stop.stop_requested(); }));  // the client stays until then
              held_.reset();
          }} {}

    [[nodiscard]] static auto writer() {
        return [](const shared_mutex& of, const std::stop_token& stop) { return of.try_acquire_for(60s, stop); };
    }
    [[nodiscard]] static auto reader() {
        return
            [](const shared_mutex& of, const std::stop_token& stop) { return of.shared().try_acquire_for(60s, stop); };
    }

    [[nodiscard]] bool granted_within(milliseconds limit) {
        return eventually(limit, [&] { return done(); }) && held_ && *held_;
    }
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] guard& held() { return *held_; }  // once granted
    void stop() { thread_.request_stop(); }
    void end() {
        stop();
        thread_.join();
    }

private:
    std::optional<guard> held_;
    std::optional<errc> failure_;
    std::atomic<bool> done_{false};
    std::jthread thread_;
};

}  // namespace tranca::shared_mutex_test
