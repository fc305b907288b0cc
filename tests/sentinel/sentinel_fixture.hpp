// sentinel_fixture: the base of tests with a set of servers and sentinels: one set a test binary, whole at the start of each.
//
//     using Failover = sentinel_fixture;
//     TEST_F(Failover, IsFollowed) { mutex lock{redis, "thing"}; ... set.master().kill_hard(); ... }
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <tranca/tranca.hpp>

#include "support/deadline.hpp"
#include "support/sentinel_set.hpp"
#include "thrown_by.hpp"

namespace tranca::sentinel_test {

using testing::eventually;
using testing::sentinel_set;
using testing::stopwatch;
using testing::thrown_by;
using namespace std::chrono_literals;

/// What a sentinel says that takes 127.0.0.1:port for the master.
[[nodiscard]] inline std::string naming(std::uint16_t port) {
    const auto digits = std::to_string(port);
    return "*2\r\n$9\r\n127.0.0.1\r\n$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n";
}

[[nodiscard]] inline sentinel_endpoint one_sentinel(std::uint16_t port) {
    return {.sentinels = {{"127.0.0.1", port}}, .master_name = std::string{sentinel_set::name}};
}

[[nodiscard]] inline sentinel_set& shared_set() {
    static sentinel_set set;
    return set;
}

class sentinel_fixture : public ::testing::Test {
protected:
    void SetUp() override {
        for (std::size_t i = 0; i < sentinel_set::size; ++i) {
            if (!set.server(i).running()) set.server(i).start_again();
            set.server(i).resume();
            set.resume_sentinel(i);
        }
        set.wait_until_whole();
        set.master().must({"FLUSHALL"});
        set.wait_in_sync();
    }

    /// Asks the master of this moment; -1 if it does not answer. Sentinels may change their minds once more.
    [[nodiscard]] std::int64_t at_master(const std::function<std::int64_t(testing::raw_client&)>& ask) {
        try {
            auto master = set.master().raw();
            return ask(master);
        } catch (const std::runtime_error&) {
            return -1;
        }
    }

    sentinel_set& set{shared_set()};
    // Patient enough for a busy machine, and no longer than a failover takes.
    const std::string url{set.url() + "?command_timeout=500ms&connect_timeout=500ms"};
};

}  // namespace tranca::sentinel_test
