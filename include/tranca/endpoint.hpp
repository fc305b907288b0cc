#pragma once

// Where Redis is and how to get in.
//
//     tranca::endpoint::parse("redis://worker:p%40ss@cache.example.com:6380/5?command_timeout=200ms");
//     tranca::endpoint::parse("rediss://cache.example.com?ca_file=/etc/ssl/redis-ca.pem");
//     tranca::endpoint::parse("unix:///run/redis/redis.sock?db=2");
//
// Query options: db, connect_timeout, command_timeout (a number with its unit, `500ms` or `2s`), client_name, and for
// rediss:// ca_file, ca_directory, certificate, private_key, server_name, verify (yes or no).
//
// Promises: percent encoding is decoded exactly once and `+` stays a plus; a URL that cannot be read is refused with the
// reason; the password appears in no text, ever.
// Does not promise that the host exists: nothing is looked up here.

#include <cstdint>
#include <string>
#include <string_view>

#include <tranca/time.hpp>

namespace tranca {

/// How a TLS session is made. Certificate files are PEM.
struct tls_options {
    std::string ca_file{};       ///< Trusted authorities; empty (with ca_directory empty): those of the system.
    std::string ca_directory{};  ///< The same as a directory of hashed names.
    std::string certificate{};   ///< Our own certificate, where the server asks for one.
    std::string private_key{};   ///< The key of `certificate`.
    std::string server_name{};   ///< For SNI and the name check; empty: the host of the endpoint.
    bool verify = true;          ///< Off only for tests: anybody can then pretend to be the server.
};

/// One Redis server, an account on it, and the time limits for talking to it.
struct endpoint {
    enum class transport { tcp, tls, unix_socket };

    transport kind = transport::tcp;
    std::string host = "127.0.0.1";  ///< Name or address; IPv6 without brackets. Not for unix_socket.
    std::uint16_t port = 6379;
    std::string path{};         ///< Of the socket; only for unix_socket.
    std::string user{};         ///< ACL user; empty: the default user.
    std::string password{};     ///< Verbatim; empty: no AUTH is sent.
    int database = 0;           ///< SELECTed on every connection, also on reconnects.
    std::string client_name{};  ///< CLIENT SETNAME; empty: not sent. Not printable ASCII without blanks: refused.
    milliseconds connect_timeout{1'000};  ///< For the socket, TLS and the handshake commands together.
    milliseconds command_timeout{1'000};  ///< From sending a command to its answer.
    tls_options tls{};

    /// Reads a URL. Throws errc::invalid_url or errc::invalid_argument; the text never holds the password. No I/O.
    [[nodiscard]] static endpoint parse(std::string_view url);

    /// Throws errc::invalid_argument if a member is out of range. No I/O.
    void validate() const;

    /// For people: "redis://worker@host:6380/5", without the password. No I/O.
    [[nodiscard]] std::string printable() const;
};

}  // namespace tranca
