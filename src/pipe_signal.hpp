#pragma once

// Keeps a write to a closed peer from raising SIGPIPE in this thread, for code that cannot pass MSG_NOSIGNAL.
//
//     { const pipe_signal_block no_signal; write_through_openssl(); }
//
// Promises: the process's own handling of SIGPIPE and a SIGPIPE that was pending before are left as they were.

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <ctime>

namespace tranca {

class pipe_signal_block {
public:
    pipe_signal_block() noexcept {
        sigemptyset(&only_pipe_);
        sigaddset(&only_pipe_, SIGPIPE);
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &only_pipe_, &before_);
    }

    ~pipe_signal_block() {
        if (!was_pending_) consume();
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    pipe_signal_block(const pipe_signal_block&) = delete;
    pipe_signal_block& operator=(const pipe_signal_block&) = delete;

private:
    void consume() noexcept {
        const timespec at_once{};
        while (sigtimedwait(&only_pipe_, nullptr, &at_once) == -1 && errno == EINTR) {
        }
    }

    sigset_t only_pipe_;
    sigset_t before_;
    bool was_pending_;
};

}  // namespace tranca
