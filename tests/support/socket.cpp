#include "support/socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <stdexcept>
#include <system_error>

#include "support/port_claim.hpp"

namespace tranca::testing {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::system_error{errno, std::generic_category(), what}; }

struct socket_name {
    sockaddr_storage bytes{};
    socklen_t size{0};

    [[nodiscard]] const sockaddr* get() const { return static_cast<const sockaddr*>(static_cast<const void*>(&bytes)); }
};

socket_name unix_name(const std::string& path) {
    sockaddr_un name{};
    if (path.size() >= sizeof name.sun_path) {
        throw std::invalid_argument{"Unix socket path is too long: " + path};
    }
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    socket_name result;
    std::memcpy(&result.bytes, &name, sizeof name);
    result.size = sizeof name;
    return result;
}

socket_name tcp_name(const std::string& host, std::uint16_t port) {
    socket_name result;
    sockaddr_in name{};
    sockaddr_in6 name6{};
    if (::inet_pton(AF_INET, host.c_str(), &name.sin_addr) == 1) {
        name.sin_family = AF_INET;
        name.sin_port = htons(port);
        std::memcpy(&result.bytes, &name, result.size = sizeof name);
    } else if (::inet_pton(AF_INET6, host.c_str(), &name6.sin6_addr) == 1) {
        name6.sin6_family = AF_INET6;
        name6.sin6_port = htons(port);
        std::memcpy(&result.bytes, &name6, result.size = sizeof name6);
    } else {
        throw std::invalid_argument{"not a numeric host: " + host};
    }
    return result;
}

socket_name name_of(const address& where) {
    return where.kind == transport::tcp ? tcp_name(where.host, where.port) : unix_name(where.path);
}

unique_fd new_socket(int family) {
    unique_fd fd{::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!fd) {
        fail("socket");
    }
    return fd;
}

void set_option(const unique_fd& fd, int level, int option, int value) {
    ::setsockopt(fd.get(), level, option, &value, sizeof value);
}

bool is_free(std::uint16_t port) {
    const auto name = tcp_name("127.0.0.1", port);
    const unique_fd fd = new_socket(AF_INET);
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    return ::bind(fd.get(), name.get(), name.size) == 0 && ::listen(fd.get(), 1) == 0;
}

}  // namespace

unique_fd::~unique_fd() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

std::uint16_t free_port() {
    static thread_local std::random_device chance;  // not the test seed: runs side by side must not meet
    // So that no port of a Cluster's bus, 10,000 above, is anybody's first port.
    std::uniform_int_distribution<int> range{10'240, 20'239};
    for (int attempt = 0; attempt < 1000; ++attempt) {
        const auto port = static_cast<std::uint16_t>(range(chance));
        if (claim_port(port) && is_free(port) && is_free(static_cast<std::uint16_t>(port + 10'000))) {
            return port;
        }
    }
    throw std::runtime_error{"no free TCP port on 127.0.0.1"};
}

unique_fd listen_on(const address& where, int backlog) {
    const auto name = name_of(where);
    unique_fd fd = new_socket(name.bytes.ss_family);
    if (where.kind == transport::tcp) {
        set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    } else {
        ::unlink(where.path.c_str());
    }
    if (::bind(fd.get(), name.get(), name.size) != 0) {
        fail("bind " + where.text());
    }
    if (::listen(fd.get(), backlog) != 0) {
        fail("listen " + where.text());
    }
    set_nonblocking(fd);
    return fd;
}

unique_fd connect_to(const address& where) {
    const auto name = name_of(where);
    unique_fd fd = new_socket(name.bytes.ss_family);
    while (::connect(fd.get(), name.get(), name.size) != 0) {
        if (errno == EISCONN) {
            break;
        }  // an interrupted call goes on by itself
        if (errno != EINTR && errno != EALREADY) {
            fail("connect " + where.text());
        }
    }
    if (where.kind == transport::tcp) {
        set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    return fd;
}

unique_fd accept_from(const unique_fd& listener) {
    unique_fd fd{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (fd) {
        set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    return fd;
}

std::string peer_host(const unique_fd& fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::getpeername(fd.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET ||
        ::inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size()) == nullptr)
        return {};
    return text.data();
}

void send_all(const unique_fd& fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            fail("send");
        }
        if (sent > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
}

void set_nonblocking(const unique_fd& fd) {
    const int flags = ::fcntl(fd.get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
        fail("fcntl");
    }
}

void close_orderly(unique_fd& fd) {
    ::shutdown(fd.get(), SHUT_RDWR);
    fd.reset();
}

void close_by_reset(unique_fd& fd) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    sockaddr nowhere{};
    nowhere.sa_family = AF_UNSPEC;
    if (::connect(fd.get(), &nowhere, sizeof nowhere) != 0) {
        ::shutdown(fd.get(), SHUT_RDWR);
    }
    fd.reset();
}

}  // namespace tranca::testing
