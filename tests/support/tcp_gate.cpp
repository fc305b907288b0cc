#include "support/tcp_gate.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "support/deadline.hpp"
#include "support/gate_machine.hpp"

namespace tranca::testing {

tcp_gate::tcp_gate(address upstream, transport listen)
    : machine_{std::make_unique<machine>(std::move(upstream), listen)} {}
tcp_gate::~tcp_gate() = default;

std::string tcp_gate::url() const { return machine_->where().url(); }
std::string tcp_gate::tls_url() const { return "rediss://" + machine_->where().text(); }
address tcp_gate::where() const { return machine_->where(); }

void tcp_gate::pass() {
    machine_->run([this] {
        machine_->delays.clear();
        machine_->swallows.clear();
        machine_->limits.clear();
        machine_->black_holes.clear();
        machine_->fragments.reset();
        machine_->throttle.reset();
        machine_->accept_again();
        machine_->let_go(every_hold);
    });
}

void tcp_gate::delay_requests(delay_span delay, command_match match) {
    machine_->run([&] { machine_->delays.push_back({direction::to_server, delay, std::move(match)}); });
}

void tcp_gate::delay_replies(delay_span delay, command_match match) {
    machine_->run([&] { machine_->delays.push_back({direction::to_client, delay, std::move(match)}); });
}

void tcp_gate::black_hole(direction way, std::size_t connection) {
    machine_->run([&] { machine_->black_holes.push_back({way, connection, {}}); });
}

void tcp_gate::black_hole_from(const std::string& host) {
    machine_->run([&] {
        for (const auto way : {direction::to_server, direction::to_client})
            machine_->black_holes.push_back({way, every_connection, host});
    });
}

void tcp_gate::cut(std::size_t connection) {
    machine_->run([&] { machine_->cut(connection); });
}

void tcp_gate::cut_after(std::size_t bytes, direction way, ending how, std::size_t connection) {
    machine_->run([&] { machine_->limits.push_back({way, connection, bytes, how}); });
}

void tcp_gate::swallow_reply(command_match match, ending how) {
    machine_->run([&] { machine_->swallows.push_back({std::move(match), how}); });
}

bool tcp_gate::wait_until_swallowed(std::chrono::milliseconds limit) {
    return eventually(limit, [this] { return machine_->run([this] { return machine_->swallows.empty(); }); });
}

tcp_gate::hold_id tcp_gate::hold(command_match match) {
    return machine_->run([&] {
        machine_->holds.push_back({++machine_->last_hold, direction::to_server, std::move(match)});
        return machine_->last_hold;
    });
}

tcp_gate::hold_id tcp_gate::hold_reply(command_match match) {
    return machine_->run([&] {
        machine_->holds.push_back({++machine_->last_hold, direction::to_client, std::move(match)});
        return machine_->last_hold;
    });
}

bool tcp_gate::wait_until_held(std::chrono::milliseconds limit, hold_id which) {
    const auto met = [which](const gate_hold& hold) {
        return hold.connection != 0 && (which == every_hold || hold.id == which);
    };
    return eventually(limit, [&] { return machine_->run([&] { return std::ranges::any_of(machine_->holds, met); }); });
}

void tcp_gate::let_go(hold_id which) {
    machine_->run([&] { machine_->let_go(which); });
}

void tcp_gate::cut_held(hold_id which) {
    machine_->run([&] { machine_->cut_held(which); });
}

void tcp_gate::fragment_replies(std::size_t size, std::chrono::microseconds pause) {
    machine_->run([&] { machine_->fragments = {size, pause}; });
}

void tcp_gate::throttle_requests(std::size_t size, std::chrono::microseconds pause) {
    machine_->run([&] { machine_->begin_throttle({size, pause}); });
}

void tcp_gate::refuse_connections() {
    machine_->run([this] { machine_->refuse(); });
}

void tcp_gate::accept_connections() {
    machine_->run([this] { machine_->accept_again(); });
}

void tcp_gate::redirect(address upstream) {
    machine_->run([&] { machine_->redirect(std::move(upstream)); });
}

std::size_t tcp_gate::connections_seen() const {
    return machine_->run([this] { return machine_->connections_seen; });
}

std::size_t tcp_gate::connections_open() const {
    return machine_->run([this] { return machine_->connections_open(); });
}

std::vector<seen_command> tcp_gate::commands() const {
    return machine_->run([this] { return machine_->commands; });
}

std::size_t tcp_gate::commands(const command_match& match) const {
    return machine_->run(
        [&] { return static_cast<std::size_t>(std::ranges::count_if(machine_->commands, std::cref(match))); });
}

bool tcp_gate::wait_for_command(std::chrono::milliseconds limit, const command_match& match, std::size_t count) {
    return eventually(limit, [&] { return commands(match) >= count; });
}

void tcp_gate::forget_commands() {
    machine_->run([this] { machine_->commands.clear(); });
}

}  // namespace tranca::testing
