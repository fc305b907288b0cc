#pragma once

// Bytes out, replies in: a socket, TLS on it where asked for, and hiredis's parser.
//
//     reply_stream stream{where, deadline};
//     stream.send(bytes, deadline, sent);
//     auto answer = stream.receive(deadline, false);       // or why there is none
//
// Promises: ends at its deadline whatever the peer does. Knows nothing of commands.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tranca/endpoint.hpp>
#include <tranca/error.hpp>
#include <tranca/reply.hpp>

#include "hiredis_api.hpp"
#include "socket.hpp"
#include "tls.hpp"

namespace tranca {

/// Why there is no reply.
struct stream_failure {
    errc code;
    std::string reason;
};

class reply_stream {
public:
    /// Connects. Throws connect_failed or tls_failed.
    reply_stream(const endpoint& where, clock::time_point deadline);

    /// Sends all of `bytes`; `sent` says how many left. Empty: done.
    [[nodiscard]] std::optional<stream_failure> send(std::string_view bytes, clock::time_point deadline,
                                                     std::size_t& sent);

    /// The next reply. `usual_deadline`: see stream_socket::receive.
    [[nodiscard]] std::variant<reply, stream_failure> receive(clock::time_point deadline, bool usual_deadline);

    /// True if the last send() had to wait for room.
    [[nodiscard]] bool send_waited() const noexcept { return line_.send_waited(); }

    /// True if bytes were received that belong to no reply yet. No I/O.
    [[nodiscard]] bool has_bytes() const noexcept { return context_->reader->pos < context_->reader->len; }

    /// True if the peer closed or bytes lie ready. Does not wait.
    [[nodiscard]] bool readable_or_closed() const noexcept { return has_bytes() || line_.readable_or_closed(); }

    [[nodiscard]] int descriptor() const noexcept { return line_.descriptor(); }

    /// True in a child of the process that connected.
    [[nodiscard]] bool inherited() const noexcept { return line_.inherited(); }

private:
    [[nodiscard]] std::variant<std::monostate, reply, stream_failure> parse();
    [[nodiscard]] socket_outcome read_more(clock::time_point deadline, bool usual_deadline);
    [[nodiscard]] std::string why_closed() const;

    stream_socket line_;
    hiredis_context context_;
    std::optional<tls_session> tls_;
};

}  // namespace tranca
