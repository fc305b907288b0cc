// cluster_fixture: the base of tests with a real Cluster: one set a test binary, whole, empty and running at the start of each.
//
//     using Slots = cluster_fixture;
//     TEST_F(Slots, AreFound) { const mutex lock{redis, name_at(1)}; ... set.move_slot(slot_of(name), 2); ... }
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <tranca/tranca.hpp>

#include "support/cluster_set.hpp"
#include "support/deadline.hpp"
#include "thrown_by.hpp"

namespace tranca::cluster_test {

using testing::cluster_set;
using testing::eventually;
using testing::redis_server;
using testing::stopwatch;
using testing::thrown_by;
using namespace std::chrono_literals;

/// `node_timeout` counts at the first call.
[[nodiscard]] inline cluster_set& shared_set(milliseconds node_timeout) {
    static cluster_set set{node_timeout};
    return set;
}

[[nodiscard]] inline mutex_options lasting(milliseconds ttl) {
    mutex_options made;
    made.lease.ttl = ttl;
    return made;
}

/// Renewed soon, and not lost to a busy machine.
[[nodiscard]] inline lease_options renewed_often() { return {.ttl = 5s, .renew_every = 150ms}; }

/// By which a lease that is renewed often has gone on, and another one has not.
inline constexpr milliseconds some_renewals{500};

[[nodiscard]] inline unsigned slot_of_lock(std::string_view name) { return hash_slot("lock:" + std::string{name}); }

class cluster_fixture : public ::testing::Test {
protected:
    explicit cluster_fixture(milliseconds node_timeout = 6s) : set{shared_set(node_timeout)} {}
    explicit cluster_fixture(cluster_set& another) : set{another} {}

    void SetUp() override { set.clear(); }

    /// A name whose lock lives at the master number `which`, 0 to 2; another one for every `salt`.
    [[nodiscard]] std::string name_at(std::size_t which, int salt = 0, std::string_view prefix = "lock:") {
        const auto& owner = set.server(set.master_indices().at(which));
        for (int i = 0;; ++i) {
            auto name = "n" + std::to_string(salt) + "-" + std::to_string(i);
            if (&set.owner_of(hash_slot(std::string{prefix} + name)) == &owner) return name;
        }
    }

    /// Without asking anybody.
    [[nodiscard]] static std::string name_at_any(int number) { return "any-" + std::to_string(number); }

    [[nodiscard]] redis_server& replica_of(const redis_server& master) {
        for (std::size_t i = 0; i < cluster_set::size; ++i) {
            auto line = set.server(i).raw();
            if (line.info("role") == "slave" && line.info("master_port") == std::to_string(master.port()))
                return set.server(i);
        }
        throw std::runtime_error{"a master without a replica"};
    }

    /// A master that does not own this slot.
    [[nodiscard]] std::size_t another_than(const redis_server& owner) {
        for (const auto index : set.master_indices())
            if (&set.server(index) != &owner) return index;
        return 0;
    }

    void move_elsewhere(unsigned slot) { set.move_slot(slot, another_than(set.owner_of(slot))); }

    [[nodiscard]] std::int64_t exists(std::string_view key) { return set.owner_of(hash_slot(key)).raw().exists(key); }

    cluster_set& set;
    const std::string url{set.url() + "?command_timeout=1s&connect_timeout=1s"};
};

}  // namespace tranca::cluster_test
