// sentinel_set: a master, two replicas and three sentinels that watch them, on free loopback ports.
//
//     sentinel_set set;
//     client redis{set.url()};                           // redis-sentinel://127.0.0.1:A,127.0.0.1:B,127.0.0.1:C/themaster
//     set.master().kill_hard();
//     set.wait_for_another_master(old_port);             // until the sentinels name another one, and it says it is
//
// The sentinels know one another from the start and take a server for dead after 300 ms without an answer. With
// `through_gates` everybody reaches a server by its gate only: what is named, announced and asked for is the gate's port.
// Servers and sentinels then come from an address of their own, so that a gate can tell them from the clients:
//
//     set.gate_at(set.master_port()).black_hole_from(sentinel_set::own_address);  // only clients still reach the master
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.hpp"
#include "support/raw_client.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"
#include "support/temporary_directory.hpp"

namespace tranca::testing {

struct sentinel_set_options {
    std::string server_password{};
    std::string sentinel_password{};
    bool through_gates{false};
    const tls_certificates* tls{nullptr};  // all speak it with one another and with clients; must outlive the set
};

class sentinel_set {
public:
    using options = sentinel_set_options;
    static constexpr std::size_t size = 3;  // servers, and sentinels
    static constexpr std::string_view name = "themaster";
    static constexpr const char* own_address = "127.0.0.2";

    explicit sentinel_set(options settings = {});

    // redis-sentinel://127.0.0.1:A,127.0.0.1:B,127.0.0.1:C/themaster, without passwords; those that are dead too.
    [[nodiscard]] std::string url(std::string_view account = {}) const;
    [[nodiscard]] std::string tls_url() const;  // rediss-sentinel://
    [[nodiscard]] std::uint16_t sentinel_port(std::size_t index) const { return sentinels_.at(index).port; }
    [[nodiscard]] redis_server& server(std::size_t index) { return *servers_.at(index); }
    // The port by which it is known: its gate's where it has one, that of TLS where they speak it.
    [[nodiscard]] std::uint16_t port(std::size_t index) const;
    [[nodiscard]] redis_server& server_at(std::uint16_t port) { return *servers_.at(index_of(port)); }
    [[nodiscard]] tcp_gate& gate_at(std::uint16_t port) { return *gates_.at(index_of(port)); }

    // The server that most sentinels name.
    [[nodiscard]] std::uint16_t master_port();
    [[nodiscard]] redis_server& master() { return server_at(master_port()); }

    // "master", "slave"; empty when it does not say, or closes the connection meanwhile.
    [[nodiscard]] std::string role_of(std::uint16_t port);

    // Returns when a majority of the live sentinels names another server than `old`, and that one says it is a master.
    redis_server& wait_for_another_master(std::uint16_t old);
    // Returns when both replicas follow the master and the sentinels see them.
    void wait_until_whole();
    // Returns when the replicas that follow have every write done before the call.
    void wait_in_sync();
    // Has the sentinels replace a live master.
    void fail_over();

    // One sentinel.
    redis_value ask(std::size_t index, const command_text& words);
    void freeze_sentinel(std::size_t index) { sentinels_.at(index).running.freeze(); }
    void resume_sentinel(std::size_t index) { sentinels_.at(index).running.resume(); }
    void kill_sentinel(std::size_t index) { sentinels_.at(index).running.kill_hard(); }
    [[nodiscard]] std::int64_t sentinel_connections_received();

private:
    struct sentinel {
        std::uint16_t port{0};
        std::uint16_t tls_port{0};
        std::string id;

        // By which the others know it.
        [[nodiscard]] std::uint16_t own_port() const { return tls_port != 0 ? tls_port : port; }
        process running;
    };

    void start_servers();
    void put_behind_gates();
    [[nodiscard]] std::vector<std::string> server_arguments() const;
    [[nodiscard]] std::string tls_settings(std::size_t index) const;
    [[nodiscard]] std::size_t index_of(std::uint16_t port) const;
    void start_sentinel(std::size_t index);
    [[nodiscard]] std::string settings_of(std::size_t index) const;
    [[nodiscard]] bool is_whole();
    [[nodiscard]] bool sees_replicas(std::size_t index);
    [[nodiscard]] std::uint16_t named_by(std::size_t index);  // 0: it does not answer

    options settings_;
    temporary_directory home_;
    std::array<std::unique_ptr<redis_server>, size> servers_;
    std::array<std::unique_ptr<tcp_gate>, size> gates_;
    std::array<sentinel, size> sentinels_;
    std::uint16_t replacing_ = 0;  // by fail_over(); 0: none
};

}  // namespace tranca::testing
