// quorum_fixture: the base of the tests of tranca::quorum_mutex: five masters, of which a test uses the first n.
//
//     class Decision : public quorum_fixture {};
//     TEST_F(Decision, NeedsAMajority) { const voters all{*this, 3}; node(1).kill_hard(); EXPECT_TRUE(all.lock().try_acquire()); }
//
// The servers are started once for the test binary and emptied before each test.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tranca/tranca.hpp>

#include "support/deadline.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"
#include "thrown_by.hpp"

namespace tranca::quorum_test {

using testing::thrown_by;
using namespace std::chrono_literals;
using testing::eventually;
using testing::redis_server;
using testing::stopwatch;
using testing::tcp_gate;
using testing::throughout;

inline constexpr milliseconds patience = 10s;  // for what happens at once unless something is broken
inline const std::string lock_key = "lock:thing";
inline const std::string fence_key = "{lock:thing}:fence";

/// Renewed by hand only, and with time enough for a machine that is busy, unless a test says otherwise.
[[nodiscard]] inline quorum_options by_hand(milliseconds ttl = 10s, milliseconds time_limit = 300ms) {
    quorum_options made;
    made.lease.ttl = ttl;
    made.lease.renew_every = 0ms;
    made.time_limit = time_limit;
    made.label = "me";
    return made;
}

/// Clients of some servers, as one process has them.
class voters {
public:
    explicit voters(const std::vector<std::string>& urls) {
        for (const auto& url : urls)
            clients_.emplace_back(url);
    }

    [[nodiscard]] quorum_mutex lock(const quorum_options& options = by_hand()) const {
        return {std::span<const client>{clients_}, "thing", options};
    }
    [[nodiscard]] const client& operator[](std::size_t node) const { return clients_.at(node); }

private:
    std::vector<client> clients_;
};

class quorum_fixture : public ::testing::Test {
public:
    static redis_server& node(std::size_t number) {
        static std::array<std::unique_ptr<redis_server>, most> all;
        auto& found = all.at(number);
        if (!found) found = std::make_unique<redis_server>();
        return *found;
    }

protected:
    quorum_fixture() {
        for (std::size_t i = 0; i < most; ++i)
            node(i).clear();
    }

    [[nodiscard]] static std::vector<std::string> urls(std::size_t count) {
        std::vector<std::string> made;
        for (std::size_t i = 0; i < count; ++i)
            made.push_back(node(i).url());
        return made;
    }

    [[nodiscard]] static std::string value(std::size_t number) { return text(node(number).command({"GET", lock_key})); }
    [[nodiscard]] static bool exists(std::size_t number) {
        return node(number).must({"EXISTS", lock_key}).integer == 1;
    }
    /// On how many of the first `count` nodes there is a lock.
    [[nodiscard]] static std::size_t holding(std::size_t count) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (exists(i)) ++found;
        return found;
    }
    /// A guard that stands on each of the first `count` nodes: one acquired before every connection was made may not.
    [[nodiscard]] static guard held_on_all(const quorum_mutex& lock, std::size_t count) {
        guard held;
        EXPECT_TRUE(eventually(patience, [&] {
            held = guard{};
            held = lock.acquire();
            return eventually(200ms, [&] { return holding(count) == count; });
        }));
        return held;
    }
    static void occupy(std::size_t number, milliseconds ttl = 60s) {
        node(number).must({"SET", lock_key, "foreign", "PX", std::to_string(ttl.count())});
    }
    /// The fence a node has stored.
    [[nodiscard]] static std::uint64_t stored(std::size_t number) {
        const auto digits = text(node(number).command({"GET", fence_key}));
        return digits.empty() ? 0 : std::stoull(digits) + 8;
    }

private:
    static constexpr std::size_t most = 5;

    [[nodiscard]] static std::string text(const testing::redis_value& found) { return found.text; }
};

/// Something between the clients and each of the first nodes.
class gates_before {
public:
    explicit gates_before(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            all_.push_back(std::make_unique<tcp_gate>(quorum_fixture::node(i).tcp()));
    }

    [[nodiscard]] std::vector<std::string> urls() const {
        std::vector<std::string> made;
        for (const auto& each : all_)
            made.push_back(each->url());
        return made;
    }
    [[nodiscard]] auto begin() const { return all_.begin(); }
    [[nodiscard]] auto end() const { return all_.end(); }

    /// The next such command is carried out; its answer does not come, nor does a connection after that.
    void cut_off_after(const std::string& command) const {
        for (const auto& each : all_) {
            each->swallow_reply(testing::text_like(command), testing::ending::reset);
            each->refuse_connections();
        }
    }
    void mend() const {
        for (const auto& each : all_)
            each->pass();
    }

private:
    std::vector<std::unique_ptr<tcp_gate>> all_;
};

[[nodiscard]] inline quorum_vote votes_for(const guard& held) {
    return quorum_mutex::votes_for(held).value_or(quorum_vote{});
}

}  // namespace tranca::quorum_test
