// pending_wait: somebody who waits for a mutex on a thread of its own, and what came of it.
//
//     pending_wait waiter{lock};
//     ...
//     EXPECT_TRUE(waiter.granted_within(1s));
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "mutex/mutex_fixture.hpp"

namespace tranca::mutex_test {

class pending_wait {
public:
    explicit pending_wait(const mutex& lock, milliseconds wait = 10s)
        : thread_{[this, lock, wait] {
              failure_ = thrown_by([&] { held_ = lock.try_acquire_for(wait); });
              at_ = wall_ms();
              done_ = true;
          }} {}

    [[nodiscard]] bool granted_within(milliseconds limit) {
        if (!eventually(limit, [&] { return done_.load(); })) return false;
        EXPECT_FALSE(failure_) << failure_->what();
        return held_.has_value();
    }
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] std::int64_t wall_time() const { return at_; }
    [[nodiscard]] guard& held() { return *held_; }
    [[nodiscard]] const std::optional<error>& failure() const { return failure_; }  // once done

private:
    std::optional<guard> held_;
    std::optional<error> failure_;
    std::atomic<std::int64_t> at_{0};
    std::atomic<bool> done_{false};
    std::jthread thread_;
};

}  // namespace tranca::mutex_test
