// schedule: what happens to several clients of one lock, step by step, without luck or waiting for time to pass.
//
//     attempt_in_background late{[&] { return make(through_gate).try_acquire(); }};
//     ASSERT_TRUE(late.stands_at(gate));                  // held by the gate, or over
//     pass_time(raw, 50ms);                               // keys that have no longer than this to live are gone
//     EXPECT_EQ(believers(first, second), 2);
//
// A schedule is written once, as a function, and run with two rungs: with the one that has the flaw, and with the next.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <tranca/tranca.hpp>

#include "support/child_process.hpp"
#include "support/deadline.hpp"
#include "support/fake_clock.hpp"
#include "support/redis_fixture.hpp"
#include "support/shared_memory.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::ladder_test {

using namespace std::chrono_literals;
using testing::child_process;
using testing::eventually;
using testing::fake_clock;
using testing::raw_client;
using testing::tcp_gate;

inline constexpr milliseconds patience = 10s;  // for what happens at once unless something is broken

/// How many believe to hold: what mutual exclusion is about.
template <class... Guards>
[[nodiscard]] int believers(const Guards&... guards) {
    return ((guards && *guards ? 1 : 0) + ...);
}

/// Time passes on the server: every key that has no longer than `span` to live is gone, one without ttl stays for ever.
inline void pass_time(raw_client& raw, milliseconds span) {
    for (const auto& key : raw.keys()) {
        const auto left = raw.pttl(key);
        if (left >= 0 && left <= span.count()) raw.must({"PEXPIREAT", key, "1000"});
    }
}

/// All the time in the world.
inline void pass_an_age(raw_client& raw) { pass_time(raw, milliseconds::max()); }

/// One attempt on a thread of its own, which a gate may hold in the middle.
class attempt_in_background {
public:
    explicit attempt_in_background(std::function<std::optional<guard>()> attempt)
        : thread_([this, attempt = std::move(attempt)] {
              try {
                  result_ = attempt();
              } catch (const error& failed) {
                  failure_ = failed;
              }
              over_ = true;
          }) {}

    /// Waits until the attempt is held by the gate or over; false: neither.
    [[nodiscard]] bool stands_at(tcp_gate& gate) {
        return eventually(patience, [&] { return over_ || gate.wait_until_held(1ms); });
    }

    /// Waits for its end. The guard stays here.
    [[nodiscard]] std::optional<guard>& result() {
        if (thread_.joinable()) thread_.join();
        return result_;
    }
    [[nodiscard]] const std::optional<error>& failure() {
        if (thread_.joinable()) thread_.join();
        return failure_;
    }

private:
    std::atomic<bool> over_{false};
    std::optional<guard> result_;
    std::optional<error> failure_;
    std::jthread thread_;
};

/// A client in a process of its own that acquires by `attempt(client)` and is killed: after it was let in, or where
/// `gate` holds it, whichever comes first. What the gate holds never arrives.
template <class Attempt>
void acquire_and_be_killed(tcp_gate& gate, Attempt attempt) {
    testing::shared_memory<std::atomic<bool>> over{false};
    child_process doomed{[&] {
        const client redis{gate.url() + "?command_timeout=60s"};
        auto held = attempt(redis);
        over->store(true);
        EXPECT_TRUE(eventually(60s, [] { return false; }));
    }};
    EXPECT_TRUE(eventually(patience, [&] { return over->load() || gate.wait_until_held(1ms); }));
    doomed.kill_hard();
    gate.cut_held();
    gate.pass();
}

/// How many commands a client sends that starts anew, gets in and goes.
template <class Attempt>
[[nodiscard]] std::size_t steps_of(testing::redis_server& server, Attempt attempt) {
    tcp_gate gate{server.tcp()};
    const client newcomer{gate.url()};
    { const auto held = attempt(newcomer); }
    return gate.commands().size();
}

class Ladder : public testing::redis_fixture {
protected:
    client redis{server.url()};
};

}  // namespace tranca::ladder_test
