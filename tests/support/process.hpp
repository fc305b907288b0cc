// process: one child process, ended by its pid when the object goes.
//
//     process server = process::start({"redis-server", "--port", "7001"}, {.output = log_path});
//     server.freeze();
//     server.resume();
//
// The child is killed by the kernel when the test process dies, even by kill -9. In a forked copy of the test process
// the object does nothing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace tranca::testing {

struct exit_status {
    bool by_signal{false};
    int code{0};  // exit status or signal number

    [[nodiscard]] bool ok() const { return !by_signal && code == 0; }
    friend bool operator==(const exit_status&, const exit_status&) = default;
    friend std::ostream& operator<<(std::ostream& out, const exit_status& status);
};

struct process_options {
    std::filesystem::path output{};     // stdout and stderr are appended here; empty: those of the test
    std::filesystem::path directory{};  // working directory; empty: that of the test
};

class process {
public:
    using options = process_options;

    // Runs a program found in PATH. Nothing but the three standard descriptors is passed on.
    [[nodiscard]] static process start(const std::vector<std::string>& words, const options& settings = {});
    // Runs `body` in a forked copy of this process and ends it with the status returned, by _exit.
    [[nodiscard]] static process fork(const std::function<int()>& body);

    process() = default;
    process(process&& other) noexcept;
    process& operator=(process&& other) noexcept;
    ~process();

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool running();  // has not ended; frozen counts as running

    void freeze();  // SIGSTOP; returns when it stands still
    void resume();  // SIGCONT
    void signal(int number);
    exit_status kill_hard();                                                     // SIGKILL; returns when it is gone
    std::optional<exit_status> wait(std::chrono::milliseconds limit);            // nullopt: still running
    exit_status end(std::chrono::milliseconds grace = std::chrono::seconds{2});  // SIGTERM, then SIGKILL

private:
    explicit process(pid_t pid);
    void look(int flags);              // takes in what the kernel has to tell about the child
    [[nodiscard]] bool alive() const;  // of this very process, and not known to have ended

    pid_t pid_{-1};
    pid_t owner_{-1};
    bool frozen_{false};
    std::optional<exit_status> status_;
};

// Of any process: runs, sleeps or stands still; false when it has ended, reaped or not.
[[nodiscard]] bool is_alive(pid_t pid);

}  // namespace tranca::testing
