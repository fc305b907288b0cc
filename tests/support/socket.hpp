// socket: the few socket calls the kit needs, none of which raises SIGPIPE.
//
//     const unique_fd listener = listen_on(address::tcp(free_port()));
//     const unique_fd link = connect_to(server.tcp());
//     send_all(link, "PING\r\n");
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "support/address.hpp"

namespace tranca::testing {

class unique_fd {
public:
    unique_fd() = default;
    explicit unique_fd(int fd) : fd_{fd} {}
    unique_fd(unique_fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    unique_fd& operator=(unique_fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~unique_fd();

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
    void reset() { *this = unique_fd{}; }

private:
    int fd_{-1};
};

// A TCP port nobody listens on, below the range the kernel gives to outgoing connections; the port + 10000 is free too.
[[nodiscard]] std::uint16_t free_port();

[[nodiscard]] unique_fd listen_on(const address& where, int backlog = 511);
unique_fd connect_to(const address& where);
[[nodiscard]] unique_fd accept_from(const unique_fd& listener);  // empty when nobody waits
[[nodiscard]] std::string peer_host(const unique_fd& fd);        // "127.0.0.1"; empty unless it is one of IPv4
void send_all(const unique_fd& fd, std::string_view bytes);      // throws std::system_error
void set_nonblocking(const unique_fd& fd);

// Both act on the connection itself, so that a copy of the descriptor in a forked child keeps nothing alive.
void close_orderly(unique_fd& fd);   // FIN
void close_by_reset(unique_fd& fd);  // RST, what was not sent is lost; Unix sockets know no RST and are closed

}  // namespace tranca::testing
