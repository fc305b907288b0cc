// The half of gate_machine that takes in what comes.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "support/gate_machine.hpp"
#include "support/resp.hpp"

namespace tranca::testing {

void gate_shrink_window(const unique_fd& fd, std::size_t size) {
    const int window = static_cast<int>(size);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
}

void tcp_gate::machine::accept_all() {
    while (unique_fd client = accept_from(listener_)) {
        ++connections_seen;
        try {
            unique_fd server = connect_to(upstream_);
            set_nonblocking(client);
            set_nonblocking(server);
            if (throttle) {
                gate_shrink_window(client, throttle->size);
            }
            auto from = peer_host(client);
            connections_.push_back({connections_seen, std::move(client), std::move(server), {}, {}, std::move(from)});
        } catch (const std::system_error&) {
            close_by_reset(client);
        }
    }
}

void tcp_gate::machine::receive(gate_connection& connection, direction way) {
    gate_lane& lane = connection.lane(way);
    if (!connection.client || !may_read(lane, way)) {
        return;
    }
    const bool slow = throttle && way == direction::to_server;
    std::string buffer(slow ? throttle->size : std::size_t{65'536}, '\0');
    const ssize_t got = ::recv(connection.source(way).get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (slow) {
        lane.next_read = steady::now() + throttle->pause;
    }
    if (got <= 0) {
        lane.ended = true;
        lane.broken = got < 0;
    } else if (!lane.shut) {
        lane.unframed.append(buffer, 0, static_cast<std::size_t>(got));
    }
    cut_into_messages(connection, way);
}

void tcp_gate::machine::cut_into_messages(gate_connection& connection, direction way) {
    gate_lane& lane = connection.lane(way);
    std::string rest = std::exchange(lane.unframed, {});
    std::string_view bytes = rest;
    while (!bytes.empty() && connection.client) {
        const std::size_t length = way == direction::to_server ? request_length(bytes) : frame_length(bytes);
        lane.opaque |= length == no_resp;
        const bool as_it_is = lane.opaque || (length == incomplete && lane.ended);
        if (length == incomplete && !as_it_is) {
            break;
        }
        const std::size_t taken = as_it_is ? bytes.size() : length;
        if (as_it_is) {
            enqueue(connection, way, bytes, {connection.number, {}});
        } else if (!take_message(connection, way, bytes.substr(0, taken))) {
            return;
        }
        bytes.remove_prefix(taken);
    }
    lane.unframed = bytes;
}

// False: the connection is over.
bool tcp_gate::machine::take_message(gate_connection& connection, direction way, std::string_view bytes) {
    seen_command command{connection.number, {}};
    if (way == direction::to_server) {
        command.arguments = command_words(bytes);
        if (!command.arguments.empty()) {
            commands.push_back(command);
            connection.unanswered.push_back(command);
        }
    } else {
        if (!connection.unanswered.empty() && bytes.front() != '>') {
            command = std::move(connection.unanswered.front());
            connection.unanswered.pop_front();
        }
        if (swallow(connection, command)) {
            return static_cast<bool>(connection.client);
        }
    }
    enqueue(connection, way, bytes, command);
    return true;
}

bool tcp_gate::machine::swallow(gate_connection& connection, const seen_command& command) {
    const auto rule = std::ranges::find_if(swallows, [&](const auto& each) { return each.match(command); });
    if (rule == swallows.end()) {
        return false;
    }
    const ending how = rule->how;
    swallows.erase(rule);
    ++swallowed;
    end(connection, how);
    return true;
}

void tcp_gate::machine::enqueue(gate_connection& connection, direction way, std::string_view bytes,
                                const seen_command& command) {
    gate_lane& lane = connection.lane(way);
    auto due = steady::now();
    for (const auto& rule : delays) {
        if (rule.way != way || !rule.match(command)) {
            continue;
        }
        std::uniform_int_distribution<std::int64_t> span{rule.span.least.count(), rule.span.most.count()};
        due = steady::now() + milliseconds{span(chance_)};  // the rule made last decides
    }
    lane.last_due = std::max(lane.last_due, due);
    hold_id held = every_hold;
    for (auto& rule : holds) {
        if (rule.connection != 0 || rule.way != way || held != every_hold || !rule.match(command)) {
            continue;
        }
        rule.connection = connection.number;
        held = rule.id;
    }
    lane.waiting.push_back({std::string{bytes}, lane.last_due, held});
}

}  // namespace tranca::testing
