// signal_storm: a signal every millisecond that interrupts whatever system call the process is in.
//
//     const signal_storm storm;                       // SIGALRM without SA_RESTART, until the end of the scope
//     EXPECT_TRUE(lock.try_acquire_for(1s));
//     EXPECT_GT(storm.count(), 0u);
//
// One at a time. The kit's own threads and calls are not disturbed by it.
#pragma once

#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cstdint>

namespace tranca::testing {

class signal_storm {
public:
    signal_storm() {
        seen() = 0;
        struct sigaction action {};
        action.sa_handler = [](int) { seen().fetch_add(1); };
        ::sigaction(SIGALRM, &action, &before_);
        const itimerval every_millisecond{{0, 1000}, {0, 1000}};
        ::setitimer(ITIMER_REAL, &every_millisecond, nullptr);
    }

    ~signal_storm() {
        const itimerval off{};
        ::setitimer(ITIMER_REAL, &off, nullptr);
        ignore_the_last_one();
        ::sigaction(SIGALRM, &before_, nullptr);
    }

    signal_storm(const signal_storm&) = delete;
    signal_storm& operator=(const signal_storm&) = delete;

    [[nodiscard]] std::uint64_t count() const { return seen().load(); }

private:
    static std::atomic<std::uint64_t>& seen() {
        static constinit std::atomic<std::uint64_t> count{0};
        return count;
    }

    // Ignoring a signal discards one that is still pending, which would otherwise meet the old, deadly action.
    static void ignore_the_last_one() {
        struct sigaction action {};
        action.sa_handler = SIG_IGN;
        ::sigaction(SIGALRM, &action, nullptr);
    }

    struct sigaction before_ {};
};

}  // namespace tranca::testing
