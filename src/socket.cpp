#include "socket.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "fork_guard.hpp"
#include "ready.hpp"
#include "socket_limit.hpp"

namespace tranca {

namespace {

bool would_block(int error_number) noexcept {
    return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

}  // namespace

stream_socket::stream_socket(int descriptor) noexcept : descriptor_(descriptor), generation_(fork_generation()) {}

stream_socket::stream_socket(stream_socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      last_errno_(other.last_errno_),
      generation_(other.generation_) {}

stream_socket::~stream_socket() {
    if (descriptor_ < 0 || inherited()) return;
    close_socket(descriptor_);
}

bool stream_socket::inherited() const noexcept { return generation_ != fork_generation(); }

void stream_socket::set_patience(milliseconds usual) noexcept { set_socket_limit(descriptor_, SO_RCVTIMEO, usual); }

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
    // Often something is there already: who polls several connections knows it.
    for (bool first = true;; first = false) {
        if (!kernel_waits && !first && !wait_ready(false, deadline)) return socket_outcome::timed_out;
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
    return for_writing ? wait_writable(descriptor_, deadline) : wait_readable(descriptor_, -1, deadline);
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
