// signal_storm: a signal every millisecond, and its handler does not ask for interrupted calls to be restarted.
//
//     const signal_storm storm;
//     redis.command(request{"PING"});
//     EXPECT_GT(storm.count(), 0);
//
// The kernel gives the signal to the main thread as long as that does not block it.
#pragma once

#include <signal.h>
#include <sys/time.h>

#include <atomic>

namespace tranca::testing {

class signal_storm {
public:
    signal_storm() {
        struct sigaction storm {};
        storm.sa_handler = [](int) { arrived.fetch_add(1, std::memory_order_relaxed); };
        ::sigaction(SIGALRM, &storm, &before_);
        start_ = arrived.load();
        every({.tv_sec = 0, .tv_usec = 1'000});
    }

    ~signal_storm() {
        every({.tv_sec = 0, .tv_usec = 0});
        ::sigaction(SIGALRM, &before_, nullptr);
    }

    signal_storm(const signal_storm&) = delete;
    signal_storm& operator=(const signal_storm&) = delete;

    [[nodiscard]] int count() const { return arrived.load() - start_; }

private:
    static void every(timeval period) {
        const itimerval timer{.it_interval = period, .it_value = period};
        ::setitimer(ITIMER_REAL, &timer, nullptr);
    }

    static inline std::atomic<int> arrived{0};
    static_assert(std::atomic<int>::is_always_lock_free, "the handler may do nothing else");

    struct sigaction before_ {};
    int start_;
};

}  // namespace tranca::testing
