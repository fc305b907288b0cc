// passes: a state of a server that is a failure to who tries once, and nothing to who waits until it has ended.
//
//     passes(lock, testing::out_of_memory(server), errc::out_of_memory);
//     passes(lock, std::move(state), errc::no_replicas, [&] { ... });    // and what else holds while it lasts
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include <tranca/mutex.hpp>

#include "support/deadline.hpp"
#include "support/fault.hpp"
#include "thrown_by.hpp"

namespace tranca::mutex_test {

inline void passes(const mutex& lock, testing::fault state, errc reason, const std::function<void()>& meanwhile = {}) {
    using namespace std::chrono_literals;
    using testing::thrown_by;
    const auto refusal = thrown_by([&] { static_cast<void>(lock.try_acquire()); });
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason(), reason) << refusal->what();
    EXPECT_TRUE(refusal->temporary());
    if (meanwhile) meanwhile();
    std::optional<guard> got;
    std::optional<error> failure;
    std::atomic<bool> over{false};
    std::jthread waiter{[&] {
        failure = thrown_by([&] { got = lock.try_acquire_for(20s); });
        over = true;
    }};
    EXPECT_TRUE(testing::throughout(100ms, [&] { return !over; }));
    state.end();
    waiter.join();
    EXPECT_FALSE(failure) << failure->what();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->release(), release_result::released);
}

}  // namespace tranca::mutex_test
