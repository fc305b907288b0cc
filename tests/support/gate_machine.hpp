// gate_machine: what a tcp_gate does, in the gate's own thread; used by tcp_gate only. Takes in (gate_intake.cpp),
// passes on (gate_delivery.cpp), obeys (gate_machine.cpp).
//
//     machine.run([&] { machine.delays.push_back(rule); });   // from any thread; in force when it returns
//
// The public members are the faults in force; they are touched inside run() only.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/gate_lane.hpp"
#include "support/poll_thread.hpp"
#include "support/tcp_gate.hpp"
#include "support/temporary_directory.hpp"

namespace tranca::testing {

struct gate_delay {
    direction way;
    delay_span span;
    command_match match;
};

struct gate_hold {
    tcp_gate::hold_id id;
    direction way;
    command_match match;
    std::size_t connection{0};  // that met it; 0: none yet
};

struct gate_swallow {
    command_match match;
    ending how;
};

struct gate_limit {
    direction way;
    std::size_t connection;
    std::size_t left;
    ending how;
};

struct gate_black_hole {
    direction way;
    std::size_t connection;
    std::string from;  // empty: from anywhere
};

struct gate_pace {
    std::size_t size;
    std::chrono::microseconds pause;
};

// What a throttled client writes has to wait in its own buffer.
void gate_shrink_window(const unique_fd& fd, std::size_t size);

class tcp_gate::machine {
public:
    machine(address to, transport listen);

    std::vector<gate_delay> delays;
    std::vector<gate_hold> holds;
    std::vector<gate_swallow> swallows;
    std::vector<gate_limit> limits;
    std::vector<gate_black_hole> black_holes;
    std::optional<gate_pace> fragments;
    std::optional<gate_pace> throttle;
    std::vector<seen_command> commands;
    std::size_t connections_seen{0};
    std::size_t swallowed{0};
    std::size_t last_hold{0};

    void let_go(hold_id which);
    void cut_held(hold_id which);
    void cut(std::size_t connection);
    void begin_throttle(gate_pace pace);
    void refuse();
    void accept_again();
    void redirect(address to);
    [[nodiscard]] std::size_t connections_open() const { return connections_.size(); }
    [[nodiscard]] const address& where() const { return where_; }

    template <typename Job>
    auto run(Job job) {
        return thread_.run(std::move(job));
    }

private:
    steady::time_point prepare(std::vector<pollfd>& watched);
    void handle(const std::vector<pollfd>& watched);
    void accept_all();
    void receive(gate_connection& connection, direction way);
    void cut_into_messages(gate_connection& connection, direction way);
    [[nodiscard]] bool take_message(gate_connection& connection, direction way, std::string_view bytes);
    [[nodiscard]] bool swallow(gate_connection& connection, const seen_command& command);
    void enqueue(gate_connection& connection, direction way, std::string_view bytes, const seen_command& command);
    void pump(gate_connection& connection, direction way);
    void send(gate_connection& connection, direction way);
    void spend(gate_connection& connection, direction way, std::size_t bytes);
    void finish_lane(gate_connection& connection, direction way);
    void end(gate_connection& connection, ending how);
    void drop_ended();
    [[nodiscard]] bool black(const gate_connection& connection, direction way) const;
    [[nodiscard]] std::size_t allowance(const gate_connection& connection, direction way) const;
    [[nodiscard]] steady::time_point due(gate_connection& connection, direction way) const;
    [[nodiscard]] bool may_read(const gate_lane& lane, direction way) const;

    address upstream_;
    temporary_directory home_;  // of the Unix socket
    address where_;
    unique_fd listener_;
    std::list<gate_connection> connections_;
    std::mt19937_64 chance_;
    poll_thread thread_;  // the last member: it uses all the others
};

}  // namespace tranca::testing
