// tcp_gate: a proxy in front of a server that fails on demand.
//
//     tcp_gate gate{server.tcp()};
//     client redis{gate.url()};
//     gate.swallow_reply("SET");                          // the server runs it, the client gets a reset instead
//
// Passes everything until told otherwise. A call returns when it is in force; what an earlier fault has begun (a delay
// that runs) is not taken back. Connections count from 1 in the order of their arrival. Knows RESP, so that it tells
// commands and replies apart; what is not RESP (TLS) passes in the pieces in which it came. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/address.hpp"
#include "support/command_match.hpp"

namespace tranca::testing {

enum class direction { to_server, to_client };
enum class ending { reset, close, keep_open };  // reset: RST by SO_LINGER 0;  close: FIN

struct delay_span {
    std::chrono::milliseconds least;
    std::chrono::milliseconds most;

    delay_span(std::chrono::milliseconds fixed) : least{fixed}, most{fixed} {}  // NOLINT: 5ms is a span
    delay_span(std::chrono::milliseconds from, std::chrono::milliseconds to) : least{from}, most{to} {}
};

class tcp_gate {
public:
    using hold_id = std::size_t;
    static constexpr std::size_t every_connection = 0;
    static constexpr hold_id every_hold = 0;

    explicit tcp_gate(address upstream, transport listen = transport::tcp);
    ~tcp_gate();
    tcp_gate(const tcp_gate&) = delete;
    tcp_gate& operator=(const tcp_gate&) = delete;

    [[nodiscard]] std::string url() const;      // redis://127.0.0.1:PORT or unix://PATH
    [[nodiscard]] std::string tls_url() const;  // rediss://127.0.0.1:PORT
    [[nodiscard]] address where() const;

    // Ends every fault: what was kept flows, what was held goes, new connections are welcome.
    void pass();

    // Later ones never overtake earlier ones of the same connection. A span draws each delay at random, from the test
    // seed.
    void delay_requests(delay_span delay, command_match match = any_command());
    void delay_replies(delay_span delay, command_match match = any_command());

    // Nothing gets through that way any more, not even the end of the connection; pass() delivers it late, as TCP
    // would.
    void black_hole(direction way, std::size_t connection = every_connection);
    // The same, both ways, for those that come from this address (of IPv4), now and later: a partition with others on this side.
    void black_hole_from(const std::string& host);

    // Resets open connections on both sides; what was under way is lost.
    void cut(std::size_t connection = every_connection);
    // Forwards `bytes` more that way, then ends the connection that sent the last of them. One shot.
    void cut_after(std::size_t bytes, direction way, ending how = ending::reset,
                   std::size_t connection = every_connection);

    // Takes away the reply to the next such command, which the server has run. One shot; wait_until_swallowed() waits.
    void swallow_reply(command_match match = any_command(), ending how = ending::reset);
    [[nodiscard]] bool wait_until_swallowed(std::chrono::milliseconds limit);

    // Holds back the next such request (or reply) and what follows it on that connection. A held request goes to the
    // server on let_go() even when its client is gone meanwhile. One shot for each call.
    hold_id hold(command_match match = any_command());
    hold_id hold_reply(command_match match = any_command());
    [[nodiscard]] bool wait_until_held(std::chrono::milliseconds limit, hold_id which = every_hold);
    void let_go(hold_id which = every_hold);    // also disarms a hold that met nothing yet
    void cut_held(hold_id which = every_hold);  // resets the connection; a held request never reaches the server

    // Replies arrive in pieces of `size` bytes, so that the client reads partially.
    void fragment_replies(std::size_t size = 1, std::chrono::microseconds pause = std::chrono::microseconds{200});
    // Reads at most `size` bytes of a client per pause, so that a large request is written partially.
    void throttle_requests(std::size_t size, std::chrono::microseconds pause = std::chrono::microseconds{200});

    void refuse_connections();  // connect() is refused
    void accept_connections();
    void redirect(address upstream);  // for connections that come from now on

    [[nodiscard]] std::size_t connections_seen() const;
    [[nodiscard]] std::size_t connections_open() const;
    [[nodiscard]] std::vector<seen_command> commands() const;              // in the order of their arrival
    [[nodiscard]] std::size_t commands(const command_match& match) const;  // how many
    [[nodiscard]] bool wait_for_command(std::chrono::milliseconds limit, const command_match& match,
                                        std::size_t count = 1);
    void forget_commands();

private:
    class machine;

    std::unique_ptr<machine> machine_;
};

}  // namespace tranca::testing
