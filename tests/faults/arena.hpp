// arena: what a run of the fault programme takes place in: servers behind gates, client processes, a register, a history.
//
//     arena place{{.servers = 1, .clients = 6, .load = {.kind = "mutex"}}, seed};
//     place.kill(2);                                   // by kill -9; another client takes its place
//     const history all = place.end();                 // ends the clients, looks for what stays, collects
//
// Clients reach the servers through gates, so that links can fail. Times of what a nemesis does are written down so that
// nobody is accused for it: a death is told before it is done, a stop before it begins and its end after it is over.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "faults/fenced_register.hpp"
#include "faults/workload.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/replica_pair.hpp"
#include "support/tcp_gate.hpp"
#include "support/temporary_directory.hpp"

namespace tranca::faults_test {

struct arena_settings {
    std::size_t servers{1};
    std::size_t clients{6};
    bool on_disk{false};      // appendonly, fsync always
    bool has_replica{false};  // one server then, with a replica
    fencing_checks checks{fencing_checks::reads_and_writes};
    workload_settings load{};
};

class arena {
public:
    arena(const arena_settings& settings, std::uint64_t seed);
    ~arena();
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    [[nodiscard]] const arena_settings& settings() const { return settings_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }
    [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
    [[nodiscard]] milliseconds between(milliseconds least, milliseconds most);

    // The servers and the way to them.
    [[nodiscard]] std::size_t servers() const { return pair_ ? 1 : servers_.size(); }
    [[nodiscard]] testing::redis_server& server(std::size_t number = 0);
    [[nodiscard]] testing::tcp_gate& gate(std::size_t number = 0);
    [[nodiscard]] testing::replica_pair& pair() { return *pair_; }

    // The clients.
    [[nodiscard]] std::size_t clients() const { return clients_.size(); }
    void kill(std::size_t client);
    void stop(std::size_t client, milliseconds time);

    /// Writes down that a fault begins.
    void tell(const std::string& fault, std::int64_t target = 0) const;

    /// When the clients had begun.
    [[nodiscard]] instant begun() const { return begun_; }

    /// Ends the clients by SIGTERM, waits for leases to end, looks for what stays. Throws if a client ended otherwise.
    history end();

private:
    void start(std::size_t client);
    [[nodiscard]] std::vector<std::string> urls() const;
    void end_clients();
    void look_for_residue();
    [[nodiscard]] std::vector<std::string> residue();
    void watch_the_machine(const std::stop_token& stop) const;

    arena_settings settings_;
    std::mt19937_64 random_;
    testing::temporary_directory home_;
    history_writer log_;
    std::vector<std::unique_ptr<testing::redis_server>> servers_;
    std::vector<std::unique_ptr<testing::tcp_gate>> gates_;
    std::optional<testing::replica_pair> pair_;
    std::optional<fenced_register> resource_;
    std::vector<testing::process> clients_;
    std::size_t started_{0};
    instant begun_{0};
    std::jthread watcher_;
};

}  // namespace tranca::faults_test
