#include "process/child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace tranca::bench {
namespace {

[[noreturn]] void live(pid_t parent, const std::function<int()>& body) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before the line above: then nobody will send that signal.
    if (::getppid() != parent) {
        ::_exit(1);
    }
    int code = 1;
    try {
        code = body();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "child process: %s\n", e.what());
    }
    ::_exit(code);
}

}  // namespace

child child::fork(const std::function<int()>& body) {
    std::fflush(nullptr);  // or the child's copy of unwritten text would be printed twice
    const auto parent = ::getpid();
    const auto pid = ::fork();
    if (pid < 0) {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (pid == 0) {
        live(parent, body);
    }
    return child(pid);
}

child::child(child&& other) noexcept : pid_(std::exchange(other.pid_, 0)), status_(other.status_) {}

child::~child() {
    if (pid_ <= 0 || ended()) {
        return;
    }
    send(SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void child::send(int signal) const noexcept {
    // After reaping, the pid may belong to somebody else.
    if (pid_ > 0 && !status_) {
        ::kill(pid_, signal);
    }
}

bool child::ended() {
    if (status_) {
        return true;
    }
    int status = 0;
    const auto answer = ::waitpid(pid_, &status, WNOHANG);
    if (answer == pid_) {
        status_ = status;
    }
    return status_.has_value();
}

bool child::wait_for(std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!ended()) {
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

std::string child::ending() const {
    if (!status_) {
        return "still running";
    }
    if (WIFSIGNALED(*status_)) {
        return "killed by signal " + std::to_string(WTERMSIG(*status_));
    }
    return "exit code " + std::to_string(WEXITSTATUS(*status_));
}

}  // namespace tranca::bench
