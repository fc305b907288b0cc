// The half of gate_machine that passes on what may go.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "support/gate_machine.hpp"

namespace tranca::testing {
namespace {

bool meets(std::size_t wanted, std::size_t number) { return wanted == tcp_gate::every_connection || wanted == number; }

}  // namespace

void tcp_gate::machine::pump(gate_connection& connection, direction way) {
    gate_lane& lane = connection.lane(way);
    if (!connection.client || black(connection, way)) {
        return;
    }
    const auto now = steady::now();
    while (!lane.waiting.empty() && lane.waiting.front().held == every_hold && lane.waiting.front().due <= now) {
        lane.outgoing += lane.waiting.front().bytes;
        lane.waiting.pop_front();
    }
    if (lane.shut) {
        lane.outgoing.clear();
    }
    if (!lane.outgoing.empty() && lane.next_send <= now) {
        send(connection, way);
    }
    if (connection.client) {
        finish_lane(connection, way);
    }
}

void tcp_gate::machine::send(gate_connection& connection, direction way) {
    gate_lane& lane = connection.lane(way);
    std::size_t size = std::min(lane.outgoing.size(), allowance(connection, way));
    if (fragments && way == direction::to_client) {
        size = std::min(size, fragments->size);
        lane.next_send = steady::now() + fragments->pause;
    }
    const ssize_t sent = ::send(connection.target(way).get(), lane.outgoing.data(), size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        lane.shut = true;  // the receiver has gone
        lane.outgoing.clear();
        return;
    }
    const std::size_t gone = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    lane.full = gone < size;
    lane.outgoing.erase(0, gone);
    spend(connection, way, gone);
}

std::size_t tcp_gate::machine::allowance(const gate_connection& connection, direction way) const {
    auto least = std::numeric_limits<std::size_t>::max();
    for (const auto& limit : limits) {
        if (limit.way == way && meets(limit.connection, connection.number)) {
            least = std::min(least, limit.left);
        }
    }
    return least;
}

void tcp_gate::machine::spend(gate_connection& connection, direction way, std::size_t bytes) {
    for (auto limit = limits.begin(); limit != limits.end(); ++limit) {
        if (limit->way != way || !meets(limit->connection, connection.number)) {
            continue;
        }
        limit->left -= bytes;
        if (limit->left > 0) {
            continue;
        }
        const ending how = limit->how;
        limits.erase(limit);
        if (how == ending::keep_open) {
            black_holes.push_back({way, connection.number, {}});
        }
        end(connection, how);
        return;
    }
}

// A server that closed ends the connection; a client that closed may still have a request under way.
void tcp_gate::machine::finish_lane(gate_connection& connection, direction way) {
    gate_lane& lane = connection.lane(way);
    if (!lane.ended || !lane.empty()) {
        return;
    }
    if (way == direction::to_client) {
        end(connection, lane.broken ? ending::reset : ending::close);
    } else if (!std::exchange(lane.shut, true)) {
        ::shutdown(connection.server.get(), SHUT_WR);
    }
}

void tcp_gate::machine::end(gate_connection& connection, ending how) {
    if (how == ending::keep_open || !connection.client) {
        return;
    }
    const auto close = how == ending::reset ? close_by_reset : close_orderly;
    close(connection.client);
    close(connection.server);
}

void tcp_gate::machine::drop_ended() {
    connections_.remove_if([](const gate_connection& connection) { return !connection.client; });
}

bool tcp_gate::machine::black(const gate_connection& connection, direction way) const {
    return std::ranges::any_of(black_holes, [&](const auto& hole) {
        return hole.way == way && meets(hole.connection, connection.number) &&
               (hole.from.empty() || hole.from == connection.from);
    });
}

}  // namespace tranca::testing
