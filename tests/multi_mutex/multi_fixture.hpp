// multi_fixture: the base of the tests of tranca::multi_mutex.
//
//     class Together : public multi_fixture {};
//     TEST_F(Together, IsAllOrNothing) { const auto held = both().acquire(); EXPECT_EQ(owner_of("a"), owner_of("b")); }
//
// An empty server, a client, and what the server keeps of each name.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tranca/tranca.hpp>

#include "support/deadline.hpp"
#include "support/raw_client.hpp"
#include "support/redis_fixture.hpp"
#include "thrown_by.hpp"

namespace tranca::multi_test {

using testing::thrown_by;
using namespace std::chrono_literals;
using testing::eventually;
using testing::raw_client;
using testing::stopwatch;
using testing::throughout;

inline constexpr milliseconds patience = 10s;  // for what happens at once unless something is broken

/// Renewed by hand only.
[[nodiscard]] inline multi_options lasting(milliseconds ttl,
                                           std::optional<milliseconds> renew_every = milliseconds{0}) {
    return {.lease = {.ttl = ttl, .renew_every = renew_every}, .label = "me"};
}

[[nodiscard]] inline std::string owner_of(raw_client& raw, const std::string& name) {
    return raw.get("lock:" + name).value_or("").substr(0, 32);
}
[[nodiscard]] inline std::uint64_t fence_of(raw_client& raw, const std::string& name) {
    return std::stoull(raw.get("{lock:" + name + "}:fence").value_or("0"));
}

/// Somebody who waits on a thread of its own, and what came of it.
class pending {
public:
    template <class Primitive>
    explicit pending(Primitive lock, milliseconds wait = patience)
        : thread_{[this, lock = std::move(lock), wait](std::stop_token stop) {
              failure_ = thrown_by([&] { held_ = lock.try_acquire_for(wait, std::move(stop)); });
              done_ = true;
          }} {}

    [[nodiscard]] bool granted_within(milliseconds limit) {
        if (!eventually(limit, [&] { return done_.load(); })) return false;
        EXPECT_FALSE(failure_) << failure_->what();
        return held_.has_value();
    }
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] guard& held() { return *held_; }
    void stop() { thread_.request_stop(), thread_.join(); }

private:
    std::optional<guard> held_;
    std::optional<error> failure_;
    std::atomic<bool> done_{false};
    std::jthread thread_;
};

class multi_fixture : public testing::redis_fixture {
protected:
    [[nodiscard]] multi_mutex both(const multi_options& options = lasting(10s)) const {
        return {redis, {"a", "b"}, options};
    }
    /// As another process would have it: with a queue of its own.
    [[nodiscard]] mutex single(const std::string& name) const { return {stranger, name}; }

    [[nodiscard]] std::string owner(const std::string& name) { return owner_of(raw, name); }
    [[nodiscard]] std::uint64_t stored_fence(const std::string& name) { return fence_of(raw, name); }

    /// Keys that are there and may not be: the fences and the traces of waiters may.
    [[nodiscard]] std::vector<std::string> keys_left() {
        auto keys = raw.keys();
        std::erase_if(keys, [](const std::string& name) { return name.starts_with("{"); });
        return keys;
    }
    /// Waits until so many sleep on the server.
    [[nodiscard]] bool asleep(int waiters) {
        return eventually(patience, [&] { return raw.info("blocked_clients") == std::to_string(waiters); });
    }

    client redis{server.url()};
    client stranger{server.url()};
    client passer_by{server.url()};
};

}  // namespace tranca::multi_test
