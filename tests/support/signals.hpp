// signals: keeps signals away from a piece of the kit's own work.
//
//     const signals_blocked quiet;     // until the end of the scope, on this thread
//
// Tests send signals by the thousand and leave SIGPIPE at its default, deadly action; a SIGPIPE raised inside the scope
// is swallowed. Signals that report a crash stay as they are.
#pragma once

#include <signal.h>

#include <ctime>

namespace tranca::testing {

class signals_blocked {
public:
    signals_blocked() {
        sigset_t blocked;
        ::sigfillset(&blocked);
        for (const int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
            ::sigdelset(&blocked, crash);
        }
        ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
        pipe_was_pending_ = pipe_pending();
    }

    ~signals_blocked() {
        if (!pipe_was_pending_ && pipe_pending()) {
            swallow_pipe();
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    static bool pipe_pending() {
        sigset_t pending;
        ::sigpending(&pending);
        return ::sigismember(&pending, SIGPIPE) == 1;
    }

    static void swallow_pipe() {
        sigset_t pipe;
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        const timespec at_once{};
        ::sigtimedwait(&pipe, nullptr, &at_once);
    }

    sigset_t before_{};
    bool pipe_was_pending_{false};
};

}  // namespace tranca::testing
