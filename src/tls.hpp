#pragma once

// TLS on a connected socket, by hiredis_ssl.
//
//     tls_session session{*context, line, where, deadline};       // throws tls_failed
//     session.send_all(bytes, deadline, sent);
//     session.receive(deadline);                                  // into the context's reader
//
// Promises: the server's certificate and name are checked unless tls_options::verify is off; TLS 1.2 at least; every call
// ends at its deadline; a closed peer raises no SIGPIPE.
// Where hiredis comes without hiredis_ssl the constructor throws tls_failed and says so.

#include <cstddef>
#include <string>
#include <string_view>

#include "hiredis_api.hpp"
#include "socket.hpp"

namespace tranca {

class tls_session {
public:
    tls_session(redisContext& context, stream_socket& line, const endpoint& where, clock::time_point deadline);

    [[nodiscard]] socket_outcome send_all(std::string_view bytes, clock::time_point deadline, std::size_t& sent);
    [[nodiscard]] socket_outcome receive(clock::time_point deadline);

    /// Why the last call failed.
    [[nodiscard]] std::string last_failure() const;

private:
    // Unused where there is no TLS.
    [[maybe_unused]] redisContext* context_;
    [[maybe_unused]] stream_socket* line_;
};

}  // namespace tranca
