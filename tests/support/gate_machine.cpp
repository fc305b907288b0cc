#include "support/gate_machine.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "support/seed.hpp"

namespace tranca::testing {
namespace {

constexpr auto both_ways = {direction::to_server, direction::to_client};
constexpr auto never = steady::time_point::max();

address address_for(transport listen, const temporary_directory& home) {
    return listen == transport::tcp ? address::tcp(free_port()) : address::unix_socket(home / "gate.sock");
}

void watch(std::vector<pollfd>& watched, const unique_fd& fd, bool to_read, bool to_write) {
    const int events = (to_read ? POLLIN : 0) | (to_write ? POLLOUT : 0);
    if (events != 0) {
        watched.push_back({.fd = fd.get(), .events = static_cast<short>(events), .revents = 0});
    }
}

}  // namespace

tcp_gate::machine::machine(address to, transport listen)
    : upstream_{std::move(to)},
      where_{address_for(listen, home_)},
      listener_{listen_on(where_)},
      chance_{seed("tcp_gate")},
      thread_{[this](auto& watched) { return prepare(watched); }, [this](const auto& watched) { handle(watched); }} {}

steady::time_point tcp_gate::machine::prepare(std::vector<pollfd>& watched) {
    if (listener_) {
        watch(watched, listener_, true, false);
    }
    auto wake = never;
    for (auto& connection : connections_) {
        const auto& [in, out] = std::tie(connection.to_server, connection.to_client);
        watch(watched, connection.client, may_read(in, direction::to_server), out.full);
        watch(watched, connection.server, may_read(out, direction::to_client), in.full);
        for (const auto way : both_ways) {
            wake = std::min(wake, due(connection, way));
        }
    }
    return wake;
}

bool tcp_gate::machine::may_read(const gate_lane& lane, direction way) const {
    if (lane.ended) {
        return false;
    }
    return way == direction::to_client || !throttle || lane.next_read <= steady::now();
}

steady::time_point tcp_gate::machine::due(gate_connection& connection, direction way) const {
    const gate_lane& lane = connection.lane(way);
    auto wake = never;
    if (way == direction::to_server && throttle && !lane.ended) {
        wake = std::min(wake, lane.next_read);
    }
    if (black(connection, way) || lane.full) {
        return wake;
    }
    if (!lane.outgoing.empty()) {
        wake = std::min(wake, lane.next_send);
    }
    if (!lane.waiting.empty() && lane.waiting.front().held == every_hold) {
        wake = std::min(wake, lane.waiting.front().due);
    }
    return wake;
}

void tcp_gate::machine::handle(const std::vector<pollfd>& watched) {
    const auto happened = [&watched](const unique_fd& fd) {
        const auto entry = std::ranges::find(watched, fd.get(), &pollfd::fd);
        return entry == watched.end() ? 0 : entry->revents;
    };
    for (auto& connection : connections_) {
        for (const auto way : both_ways) {
            const int in = happened(connection.source(way));
            if ((in & (POLLIN | POLLHUP | POLLERR)) != 0) {
                receive(connection, way);
            }
        }
        for (const auto way : both_ways) {
            connection.lane(way).full = false;
            pump(connection, way);
        }
    }
    if (listener_ && happened(listener_) != 0) {
        accept_all();
    }
    drop_ended();
}

// --- what the test orders ---

void tcp_gate::machine::let_go(hold_id which) {
    std::erase_if(holds, [which](const auto& rule) { return which == every_hold || rule.id == which; });
    for (auto& connection : connections_) {
        for (const auto way : both_ways) {
            for (auto& parcel : connection.lane(way).waiting) {
                if (which == every_hold || parcel.held == which) {
                    parcel.held = every_hold;
                }
            }
            pump(connection, way);
        }
    }
    drop_ended();
}

void tcp_gate::machine::cut_held(hold_id which) {
    const auto rules = holds;
    for (const auto& rule : rules) {
        if (rule.connection != 0 && (which == every_hold || rule.id == which)) {
            cut(rule.connection);
        }
    }
    std::erase_if(holds, [which](const auto& rule) { return which == every_hold || rule.id == which; });
}

void tcp_gate::machine::cut(std::size_t number) {
    if (listener_) {
        accept_all();
    }  // those that stand in the queue believe they are connected
    for (auto& connection : connections_) {
        if (number == every_connection || number == connection.number) {
            end(connection, ending::reset);
        }
    }
    drop_ended();
}

void tcp_gate::machine::begin_throttle(gate_pace pace) {
    throttle = pace;
    for (const auto& connection : connections_) {
        gate_shrink_window(connection.client, pace.size);
    }
}

void tcp_gate::machine::refuse() {
    if (!listener_) {
        return;
    }
    accept_all();
    close_orderly(listener_);
}

void tcp_gate::machine::redirect(address to) {
    if (listener_) {
        accept_all();
    }
    upstream_ = std::move(to);
}

void tcp_gate::machine::accept_again() {
    if (!listener_) {
        listener_ = listen_on(where_);
    }
}

}  // namespace tranca::testing
