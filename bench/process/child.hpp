#pragma once

// A child process that cannot outlive its parent.
//
//     auto worker = child::fork([] { work(); return 0; });     // body's result is the exit code
//     if (!worker.wait_for(5s)) { ... }
//
// Promises: the child gets SIGKILL when the parent dies, however it dies; the destructor kills and reaps what still
// runs, by its pid. The body ends by _exit: no destructor of the parent's objects runs in the child. An exception
// that leaves the body is printed to stderr and makes the exit code 1.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace tranca::bench {

class child {
public:
    static child fork(const std::function<int()>& body);
    child(child&& other) noexcept;
    child& operator=(child&&) = delete;
    ~child();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    void send(int signal) const noexcept;
    // True once it has ended; reaps it. Does not block.
    bool ended();
    bool wait_for(std::chrono::milliseconds limit);
    // Only after ended(): whether it returned 0, and in words how it ended ("exit code 1", "killed by signal 9").
    [[nodiscard]] bool succeeded() const noexcept { return status_ && *status_ == 0; }
    [[nodiscard]] std::string ending() const;

private:
    explicit child(pid_t pid) noexcept : pid_(pid) {}

    pid_t pid_;
    std::optional<int> status_;
};

}  // namespace tranca::bench
