#pragma once

// Threads of the library's own.
//
//     std::thread timer = start_quiet_thread([] { keep_time(); });
//
// Promises: they take no signal of the application's.

#include <signal.h>

#include <thread>
#include <utility>

namespace tranca {

/// Starts a thread with every signal blocked. Throws std::system_error if there is none to be had.
[[nodiscard]] std::thread start_quiet_thread(auto work) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread started{std::move(work)};
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return started;
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
}

/// A listener that destroys the client runs on one of the threads to be joined.
inline void join_or_detach(std::thread& thread) {
    if (!thread.joinable()) return;
    if (thread.get_id() == std::this_thread::get_id()) thread.detach();
    else thread.join();
}

}  // namespace tranca
