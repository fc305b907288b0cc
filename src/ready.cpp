#include "ready.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <span>

namespace tranca {

namespace {

timespec time_left(clock::time_point deadline) noexcept {
    // A day at most: what is left is asked for again.
    const auto left =
        std::clamp<clock::duration>(deadline - clock::now(), clock::duration::zero(), std::chrono::hours{24});
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    timespec result{};
    result.tv_sec = static_cast<time_t>(seconds.count());
    result.tv_nsec = static_cast<long>(std::chrono::nanoseconds{left - seconds}.count());
    return result;
}

bool wait_for_any(std::span<pollfd> entries, clock::time_point deadline) noexcept {
    for (;;) {
        const bool endless = deadline == clock::time_point::max();
        const auto left = endless ? timespec{} : time_left(deadline);
        const int ready = ::ppoll(entries.data(), entries.size(), endless ? nullptr : &left, nullptr);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return true;  // let the next call on the descriptor say what is wrong
        if (!endless && clock::now() >= deadline) return false;
    }
}

}  // namespace

bool wait_readable(int first, int second, clock::time_point deadline) noexcept {
    std::array<pollfd, 2> entries{pollfd{.fd = first, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = second, .events = POLLIN, .revents = 0}};
    return wait_for_any(entries, deadline);
}

bool wait_writable(int descriptor, clock::time_point deadline) noexcept {
    pollfd entry{.fd = descriptor, .events = POLLOUT, .revents = 0};
    return wait_for_any({&entry, 1}, deadline);
}

}  // namespace tranca
