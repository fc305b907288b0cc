// lasting_thread: runs a function on a thread that lives as long as the process.
//
//     const pid_t child = on_lasting_thread([&] { return ::fork(); });
//
// PR_SET_PDEATHSIG fires when the *thread* that forked ends; a child made here outlives a test's short-lived thread. On
// the main thread the function is simply called.
#pragma once

#include <sys/types.h>

#include <functional>

namespace tranca::testing {

pid_t on_lasting_thread(const std::function<pid_t()>& job);

}  // namespace tranca::testing
