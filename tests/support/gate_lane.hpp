// gate_lane: one direction of one connection through a tcp_gate; used by gate_machine only.
//
//     lane.unframed += bytes;                         // what came in, not yet a whole message
//     lane.waiting.push_back({frame, due, 0});        // messages that are delayed or held
//     lane.outgoing                                   // may leave now
//
// Plain data: what happens to it is decided in gate_machine.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "support/command_match.hpp"
#include "support/deadline.hpp"
#include "support/socket.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::testing {

struct gate_parcel {
    std::string bytes;
    steady::time_point due;
    tcp_gate::hold_id held;  // every_hold: not held
};

struct gate_lane {
    std::string unframed;
    std::deque<gate_parcel> waiting;
    std::string outgoing;
    steady::time_point last_due{};
    steady::time_point next_send{};
    steady::time_point next_read{};
    bool opaque{false};  // not RESP: passes in the pieces that come
    bool ended{false};   // the sender has closed
    bool broken{false};  // ... by a reset
    bool shut{false};    // the receiver was told, or is gone: nothing more can be sent
    bool full{false};    // the receiver's window is

    [[nodiscard]] bool empty() const { return unframed.empty() && waiting.empty() && outgoing.empty(); }
};

struct gate_connection {
    std::size_t number;
    unique_fd client;
    unique_fd server;
    gate_lane to_server{};
    gate_lane to_client{};
    std::string from{};  // the client's address; empty when it has none
    std::deque<seen_command> unanswered{};

    [[nodiscard]] gate_lane& lane(direction way) { return way == direction::to_server ? to_server : to_client; }
    [[nodiscard]] const unique_fd& source(direction way) const { return way == direction::to_server ? client : server; }
    [[nodiscard]] const unique_fd& target(direction way) const { return way == direction::to_server ? server : client; }
};

}  // namespace tranca::testing
