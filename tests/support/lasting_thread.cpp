#include "support/lasting_thread.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "support/poll_thread.hpp"

namespace tranca::testing {
namespace {

bool on_main_thread() { return ::syscall(SYS_gettid) == ::getpid(); }

// Never destroyed: children must not die while static objects of the test binary go. A forked process makes its own.
poll_thread& lasting_thread() {
    static std::mutex mutex;
    static poll_thread* thread = nullptr;
    static pid_t owner = -1;
    const std::lock_guard lock{mutex};
    if (owner != ::getpid()) {
        owner = ::getpid();
        thread = new poll_thread{[](auto&) { return steady::time_point::max(); }, [](const auto&) {}};
    }
    return *thread;
}

}  // namespace

pid_t on_lasting_thread(const std::function<pid_t()>& job) {
    return on_main_thread() ? job() : lasting_thread().run([&job] { return job(); });
}

}  // namespace tranca::testing
