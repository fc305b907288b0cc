#pragma once

// A stream socket with deadlines.
//
//     auto line = stream_socket::connect(where, deadline);
//     line.send_all(bytes, deadline);
//     const auto got = line.receive(buffer, deadline);     // 0: the peer closed
//
// Promises: interrupted system calls go on with what is left of the time; writing to a closed peer is an error, not a
// SIGPIPE; a child after fork() has the descriptor closed and sends nothing.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tranca/endpoint.hpp>
#include <tranca/time.hpp>

namespace tranca {

/// Why a socket call ended without doing its job.
enum class socket_outcome { done, timed_out, closed };

class stream_socket {
public:
    /// Tries every address of the host until the deadline. Throws errc::connect_failed.
    [[nodiscard]] static stream_socket connect(const endpoint& where, clock::time_point deadline);

    stream_socket(stream_socket&& other) noexcept;
    stream_socket& operator=(stream_socket&&) = delete;
    ~stream_socket();

    /// The usual time limit: a wait of that length costs no extra system call.
    void set_patience(milliseconds usual) noexcept;

    /// Sends all bytes. `sent` counts those the kernel took, also when the outcome is not `done`.
    [[nodiscard]] socket_outcome send_all(std::string_view bytes, clock::time_point deadline,
                                          std::size_t& sent) noexcept;

    /// True if the last send_all() had to wait for room.
    [[nodiscard]] bool send_waited() const noexcept { return send_waited_; }

    /// Receives at least one byte into `buffer`; `received` says how many. `usual_deadline`: the deadline is the usual time
    /// limit, counted from now.
    [[nodiscard]] socket_outcome receive(std::span<char> buffer, clock::time_point deadline, bool usual_deadline,
                                         std::size_t& received) noexcept;

    /// Waits until there is something to read or (if `for_writing`) room to write. False: the time is over.
    [[nodiscard]] bool wait_ready(bool for_writing, clock::time_point deadline) const noexcept;

    /// True if the peer closed, the socket failed, or unasked bytes lie ready. Does not wait.
    [[nodiscard]] bool readable_or_closed() const noexcept;

    /// What errno said about the last failure.
    [[nodiscard]] int last_errno() const noexcept { return last_errno_; }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    /// True in a child of the process that made the socket.
    [[nodiscard]] bool inherited() const noexcept;

private:
    explicit stream_socket(int descriptor) noexcept;

    int descriptor_;
    int last_errno_ = 0;
    bool send_waited_ = false;
    std::uint64_t generation_;
};

}  // namespace tranca
