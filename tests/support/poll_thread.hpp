// poll_thread: a thread that waits for sockets and in between does what other threads ask of it.
//
//     poll_thread thread{prepare, handle};
//     const auto count = thread.run([&] { return connections.size(); });   // done when it returns
//
// Everything the three functions touch belongs to that thread, so it needs no locks.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/deadline.hpp"
#include "support/socket.hpp"

namespace tranca::testing {

class poll_thread {
public:
    // Fills in what to wait for; returns when to wake up at the latest.
    using preparing = std::function<steady::time_point(std::vector<pollfd>&)>;
    // Called after each wait with the same list.
    using handling = std::function<void(const std::vector<pollfd>&)>;

    poll_thread(preparing prepare, handling handle);
    ~poll_thread();
    poll_thread(const poll_thread&) = delete;
    poll_thread& operator=(const poll_thread&) = delete;

    template <typename Job>
    std::invoke_result_t<Job&> run(Job job) {
        std::packaged_task<std::invoke_result_t<Job&>()> task{std::move(job)};
        auto result = task.get_future();
        post([&task] { task(); });
        return result.get();
    }

private:
    void post(std::function<void()> job);
    void loop();
    void wait(std::vector<pollfd>& watched, steady::time_point until) const;
    void do_jobs();

    preparing prepare_;
    handling handle_;
    unique_fd wakeup_;
    std::mutex mutex_;
    std::deque<std::function<void()>> jobs_;
    bool stop_{false};
    pid_t owner_;
    std::thread thread_;
};

}  // namespace tranca::testing
