#pragma once

// How long the kernel lets a blocking call on a socket wait.
//
//     set_socket_limit(descriptor, SO_RCVTIMEO, 250ms);     // zero: for ever

#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>

namespace tranca {

/// Sets SO_RCVTIMEO or SO_SNDTIMEO.
inline void set_socket_limit(int descriptor, int which, std::chrono::microseconds limit) noexcept {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
    timeval value{};
    value.tv_sec = static_cast<time_t>(seconds.count());
    value.tv_usec = static_cast<suseconds_t>(std::chrono::microseconds{limit - seconds}.count());
    ::setsockopt(descriptor, SOL_SOCKET, which, &value, sizeof value);
}

}  // namespace tranca
