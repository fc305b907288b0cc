#include "process/interrupt.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace tranca::bench::interrupt {
namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void remember(int number) { received.store(number, std::memory_order_relaxed); }

}  // namespace

void install() {
    struct sigaction action {};
    action.sa_handler = remember;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // without SA_RESTART: sleeps end early
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        if (::sigaction(number, &action, nullptr) != 0) {
            throw std::system_error(errno, std::generic_category(), "sigaction");
        }
    }
}

bool requested() noexcept { return signal_number() != 0; }

int signal_number() noexcept { return received.load(std::memory_order_relaxed); }

void ignore_in_child() noexcept {
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGTERM, SIG_DFL);
}

}  // namespace tranca::bench::interrupt
