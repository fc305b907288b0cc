// fake_server: a listener whose every answer is decided by the test.
//
//     fake_server server{after_handshake(always("-NOSCRIPT No matching script.\r\n"))};
//     client redis{server.url()};
//     EXPECT_LE(server.commands(named("EVALSHA")), 2u);
//
// The answering function runs in the server's thread, one command at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/address.hpp"
#include "support/command_match.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::testing {

struct fake_answer {
    std::string bytes{};  // sent as they are; empty: nothing is sent
    ending then{ending::keep_open};
    std::chrono::milliseconds after{0};  // how long it takes to answer
};

using answering = std::function<fake_answer(const seen_command&)>;

class fake_server {
public:
    explicit fake_server(answering answer, transport listen = transport::tcp);
    explicit fake_server(std::vector<std::string> canned);  // one for each command in turn; the last one repeats
    ~fake_server();
    fake_server(const fake_server&) = delete;
    fake_server& operator=(const fake_server&) = delete;

    [[nodiscard]] static std::unique_ptr<fake_server> closing_after_accept(ending how = ending::close);
    [[nodiscard]] static std::unique_ptr<fake_server> greeting(fake_answer first);  // speaks before it is asked

    void answer_with(answering answer);  // from the next command on
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::string tls_url() const;  // a server that cannot speak TLS
    [[nodiscard]] address where() const;
    [[nodiscard]] std::size_t connections_seen() const;
    [[nodiscard]] std::size_t connections_open() const;
    [[nodiscard]] std::vector<seen_command> commands() const;
    [[nodiscard]] std::size_t commands(const command_match& match) const;

private:
    class machine;
    explicit fake_server(std::unique_ptr<machine> made);

    std::unique_ptr<machine> machine_;
};

// Ways to answer.
[[nodiscard]] answering always(std::string bytes, ending then = ending::keep_open);
[[nodiscard]] answering always_error(std::string_view text);  // always_error("OOM command not allowed")
[[nodiscard]] answering never_answering();
[[nodiscard]] answering garbage();                                     // bytes that are no RESP
[[nodiscard]] answering truncated_reply(ending then = ending::close);  // half a bulk string, then the end
[[nodiscard]] answering closing(ending how);                   // reads the command, answers by ending the connection
[[nodiscard]] answering nested_arrays(std::size_t depth);      // arrays in arrays, deeper than a client may follow
[[nodiscard]] answering huge_array(std::size_t items);         // an array of that many integers
[[nodiscard]] answering huge_bulk(std::size_t bytes);          // one string of that many bytes
[[nodiscard]] answering bulk_header(std::string_view length);  // "$<length>\r\n" and nothing more: lies about lengths
// +OK to HELLO, AUTH, SELECT, CLIENT and READONLY, +PONG to PING; everything else goes to `rest`.
[[nodiscard]] answering after_handshake(answering rest);

}  // namespace tranca::testing
