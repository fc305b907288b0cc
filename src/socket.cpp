#include "socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tranca/error.hpp>

#include "fork_guard.hpp"

namespace tranca {

namespace {

int poll_timeout(clock::time_point deadline) noexcept {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock::now()).count();
    return static_cast<int>(std::clamp<milliseconds::rep>(left, 0, INT_MAX));
}

bool poll_for(int descriptor, short events, clock::time_point deadline) noexcept {
    for (;;) {
        pollfd entry{.fd = descriptor, .events = events, .revents = 0};
        const int ready = ::poll(&entry, 1, poll_timeout(deadline));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return true;  // let the next call on the socket say what is wrong
        if (clock::now() >= deadline) return false;
    }
}

bool would_block(int error_number) noexcept {
    return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

// Zero, or the errno of the attempt.
int finish_connect(int descriptor, const sockaddr* address, socklen_t length, clock::time_point deadline) noexcept {
    if (::connect(descriptor, address, length) == 0) return 0;
    // A full backlog of a Unix socket answers EAGAIN: there is nothing to wait on.
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    if (!poll_for(descriptor, POLLOUT, deadline)) return ETIMEDOUT;
    int outcome = 0;
    socklen_t size = sizeof outcome;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &outcome, &size) != 0) return errno;
    return outcome;
}

void make_blocking(int descriptor) noexcept {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
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

stream_socket::stream_socket(int descriptor) noexcept : descriptor_(descriptor), generation_(fork_generation()) {}

stream_socket stream_socket::connect(const endpoint& where, clock::time_point deadline) {
    return stream_socket{where.kind == endpoint::transport::unix_socket ? connect_unix(where, deadline)
                                                                        : connect_tcp(where, deadline)};
}

stream_socket::stream_socket(stream_socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      last_errno_(other.last_errno_),
      generation_(other.generation_) {}

stream_socket::~stream_socket() {
    if (descriptor_ < 0 || inherited()) return;
    close_socket(descriptor_);
}

bool stream_socket::inherited() const noexcept { return generation_ != fork_generation(); }

void stream_socket::set_patience(milliseconds usual) noexcept {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(usual);
    timeval limit{};
    limit.tv_sec = static_cast<time_t>(seconds.count());
    limit.tv_usec = static_cast<suseconds_t>(std::chrono::microseconds{usual - seconds}.count());
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

socket_outcome stream_socket::send_all(std::string_view bytes, clock::time_point deadline, std::size_t& sent) noexcept {
    sent = 0;
    send_waited_ = false;
    while (sent < bytes.size()) {
        const auto count = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            sent += static_cast<std::size_t>(count);
            continue;
        }
        if (!would_block(errno)) {
            last_errno_ = errno;
            return socket_outcome::closed;
        }
        send_waited_ = true;
        if (!wait_ready(true, deadline)) return socket_outcome::timed_out;
    }
    return socket_outcome::done;
}

socket_outcome stream_socket::receive(std::span<char> buffer, clock::time_point deadline, bool usual_deadline,
                                      std::size_t& received) noexcept {
    // The kernel's own time limit saves a poll() in the common case; everything else goes by the deadline.
    bool kernel_waits = usual_deadline;
    for (;;) {
        if (!kernel_waits && !wait_ready(false, deadline)) return socket_outcome::timed_out;
        const auto count = ::recv(descriptor_, buffer.data(), buffer.size(), kernel_waits ? 0 : MSG_DONTWAIT);
        kernel_waits = false;
        if (count > 0) {
            received = static_cast<std::size_t>(count);
            return socket_outcome::done;
        }
        if (count == 0) {
            last_errno_ = 0;
            return socket_outcome::closed;
        }
        if (!would_block(errno)) {
            last_errno_ = errno;
            return socket_outcome::closed;
        }
    }
}

bool stream_socket::wait_ready(bool for_writing, clock::time_point deadline) const noexcept {
    return poll_for(descriptor_, for_writing ? POLLOUT : POLLIN, deadline);
}

bool stream_socket::readable_or_closed() const noexcept {
    char byte = 0;
    for (;;) {
        const auto count = ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (count >= 0) return true;
        if (errno != EINTR) return errno != EAGAIN && errno != EWOULDBLOCK;
    }
}

}  // namespace tranca
