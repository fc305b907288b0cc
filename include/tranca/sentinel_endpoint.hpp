#pragma once

// Where Redis Sentinel is, and which of the masters it watches is meant.
//
//     tranca::client redis{"redis-sentinel://worker:p%40ss@s1.example.com,s2.example.com:26380/mymaster/5"};
//     tranca::client same{tranca::sentinel_endpoint{.sentinels = {{"s1.example.com"}, {"s2.example.com", 26380}},
//                                                   .master_name = "mymaster",
//                                                   .server = {.user = "worker", .password = "p@ss", .database = 5}}};
//
// The URL: redis-sentinel://[user:password@]host[:port][,host[:port]...]/master-name[/database][?options]. The account is
// that of the server. Options: those of endpoint, and for the sentinels sentinel_user, sentinel_password, sentinel_timeout and
// check_every.
// rediss-sentinel:// speaks TLS with the sentinels and with the server. The usual port of a sentinel is 26379.
//
// Promises: what endpoint promises of its URLs; no password appears in any text.
// Does not promise that the sentinels exist, or that they know the name: nothing is looked up here.
// What a client by it promises stands in client.hpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/endpoint.hpp>
#include <tranca/time.hpp>

namespace tranca {

/// Sentinels that watch the same master, and how to talk to them and to it.
struct sentinel_endpoint {
    /// One sentinel.
    struct address {
        std::string host;
        std::uint16_t port = 26379;
    };

    std::vector<address> sentinels{};  ///< Asked in this order at first, later first the one that answered last.
    std::string master_name{};         ///< As in the sentinels' `sentinel monitor NAME ...`.
    endpoint server{};       ///< Account, database, limits and TLS of the master. Its host and port are ignored.
    std::string user{};      ///< ACL user on the sentinels; empty: the default user.
    std::string password{};  ///< Of the sentinels; empty: no AUTH is sent to them.
    milliseconds sentinel_timeout{500};  ///< For each sentinel: connecting and its answer together.
    /// How long what a sentinel said is believed without asking again, as one trip of whoever then needs a connection. A master
    /// that an operator replaces goes on for some seconds as if nothing had happened. 0: until something fails.
    milliseconds check_every{1'000};

    /// True for redis-sentinel:// and rediss-sentinel://. No I/O.
    [[nodiscard]] static bool is_meant_by(std::string_view url) noexcept;

    /// Reads a URL. Throws errc::invalid_url or errc::invalid_argument; the text never holds a password. No I/O.
    [[nodiscard]] static sentinel_endpoint parse(std::string_view url);

    /// Throws errc::invalid_argument if a member is out of range. No I/O.
    void validate() const;

    /// How one of the sentinels is reached. No I/O.
    [[nodiscard]] endpoint reach(const address& sentinel) const;

    /// How the server is reached, were it there. No I/O.
    [[nodiscard]] endpoint server_at(std::string host, std::uint16_t port) const;

    /// For people: "redis-sentinel://worker@s1:26379,s2:26380/mymaster/5", without passwords. No I/O.
    [[nodiscard]] std::string printable() const;
};

}  // namespace tranca
