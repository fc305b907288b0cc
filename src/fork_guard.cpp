#include "fork_guard.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>

namespace tranca {

namespace {

struct process {
    std::atomic<std::uint64_t> generation{1};
    std::mutex mutex;
    std::set<int> sockets;
};

// Never destroyed: threads may still use it while the process exits.
process& this_process();

void before_fork() { this_process().mutex.lock(); }

void after_fork_in_parent() { this_process().mutex.unlock(); }

void after_fork_in_child() {
    auto& self = this_process();
    self.generation.fetch_add(1);
    for (const int descriptor : self.sockets)
        ::close(descriptor);
    self.sockets.clear();
    self.mutex.unlock();
}

process& this_process() {
    static process* const instance = [] {
        ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        return new process;
    }();
    return *instance;
}

}  // namespace

std::uint64_t fork_generation() noexcept { return this_process().generation.load(std::memory_order_relaxed); }

int open_socket(int family) {
    auto& self = this_process();
    const std::lock_guard lock{self.mutex};
    const int descriptor = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return descriptor;
    try {
        self.sockets.insert(descriptor);
    } catch (...) {
        ::close(descriptor);
        throw;
    }
    return descriptor;
}

void close_socket(int descriptor) noexcept {
    auto& self = this_process();
    const std::lock_guard lock{self.mutex};
    self.sockets.erase(descriptor);
    ::close(descriptor);
}

}  // namespace tranca
