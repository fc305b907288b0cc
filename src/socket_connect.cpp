#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <tranca/error.hpp>

#include "fork_guard.hpp"
#include "ready.hpp"
#include "socket.hpp"
#include "socket_limit.hpp"

namespace tranca {

namespace {

void make_blocking(int descriptor) noexcept {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

// The queue of a Unix socket is full, as when a crowd starts at once. poll() cannot wait for room in it, a blocking
// connect() does, for as long as SO_SNDTIMEO says. Zero, or the errno of the attempt.
int connect_in_turn(int descriptor, const sockaddr* address, socklen_t length, clock::time_point deadline) noexcept {
    make_blocking(descriptor);
    int failure = ETIMEDOUT;
    for (auto now = clock::now(); now < deadline; now = clock::now()) {
        set_socket_limit(descriptor, SO_SNDTIMEO, std::chrono::ceil<std::chrono::microseconds>(deadline - now));
        failure = ::connect(descriptor, address, length) == 0 ? 0 : errno;
        if (failure != EAGAIN && failure != EINTR) break;
        failure = ETIMEDOUT;
    }
    set_socket_limit(descriptor, SO_SNDTIMEO, std::chrono::microseconds::zero());
    return failure;
}

// Zero, or the errno of the attempt.
int finish_connect(int descriptor, const sockaddr* address, socklen_t length, clock::time_point deadline) noexcept {
    if (::connect(descriptor, address, length) == 0) return 0;
    if (errno == EAGAIN) return connect_in_turn(descriptor, address, length, deadline);
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    if (!wait_writable(descriptor, deadline)) return ETIMEDOUT;
    int outcome = 0;
    socklen_t size = sizeof outcome;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &outcome, &size) != 0) return errno;
    return outcome;
}

// A connected blocking descriptor, or the errno of the failure in `failure`.
std::optional<int> connected(int family, const sockaddr* address, socklen_t length, clock::time_point deadline,
                             int& failure) {
    const int descriptor = open_socket(family);
    failure = descriptor < 0 ? errno : finish_connect(descriptor, address, length, deadline);
    if (failure == 0) {
        make_blocking(descriptor);
        return descriptor;
    }
    if (descriptor >= 0) close_socket(descriptor);
    return std::nullopt;
}

[[noreturn]] void refuse(const endpoint& where, std::string_view reason) {
    throw error(errc::connect_failed, fmt::format("connecting to {}: {}", where.printable(), reason));
}

int connect_unix(const endpoint& where, clock::time_point deadline) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    where.path.copy(address.sun_path, sizeof address.sun_path - 1);
    int failure = 0;
    const auto descriptor =
        connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address, deadline, failure);
    if (!descriptor) refuse(where, std::strerror(failure));
    return *descriptor;
}

std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> look_up(const endpoint& where) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failure = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
    if (failure != 0) refuse(where, ::gai_strerror(failure));
    return {found, &::freeaddrinfo};
}

int connect_tcp(const endpoint& where, clock::time_point deadline) {
    const auto addresses = look_up(where);
    int failure = EADDRNOTAVAIL;
    for (const auto* address = addresses.get(); address != nullptr; address = address->ai_next) {
        const auto descriptor = connected(address->ai_family, address->ai_addr, address->ai_addrlen, deadline, failure);
        if (!descriptor) continue;
        const int on = 1;
        ::setsockopt(*descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(*descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        return *descriptor;
    }
    refuse(where, std::strerror(failure));
}

}  // namespace

stream_socket stream_socket::connect(const endpoint& where, clock::time_point deadline) {
    return stream_socket{where.kind == endpoint::transport::unix_socket ? connect_unix(where, deadline)
                                                                        : connect_tcp(where, deadline)};
}

}  // namespace tranca
