#include "support/poll_thread.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

#include "support/signals.hpp"

namespace tranca::testing {

poll_thread::poll_thread(preparing prepare, handling handle)
    : prepare_{std::move(prepare)},
      handle_{std::move(handle)},
      wakeup_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      owner_{::getpid()} {
    if (!wakeup_) {
        throw std::system_error{errno, std::generic_category(), "eventfd"};
    }
    const signals_blocked quiet;  // inherited by the thread: signals are for the threads under test
    thread_ = std::thread{[this] { loop(); }};
}

poll_thread::~poll_thread() {
    if (owner_ != ::getpid()) {
        new std::thread{std::move(thread_)};  // a forked copy has no such thread: nothing to join, nothing to destroy
        return;
    }
    {
        const std::lock_guard lock{mutex_};
        stop_ = true;
    }
    post([] {});
    thread_.join();
}

void poll_thread::post(std::function<void()> job) {
    {
        const std::lock_guard lock{mutex_};
        jobs_.push_back(std::move(job));
    }
    const std::uint64_t one = 1;
    while (::write(wakeup_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void poll_thread::loop() {
    std::vector<pollfd> watched;
    while (true) {
        do_jobs();
        {
            const std::lock_guard lock{mutex_};
            if (stop_) {
                return;
            }
        }
        watched.clear();
        const auto until = prepare_(watched);
        watched.push_back({.fd = wakeup_.get(), .events = POLLIN, .revents = 0});
        wait(watched, until);
        handle_(watched);
    }
}

void poll_thread::wait(std::vector<pollfd>& watched, steady::time_point until) const {
    timespec rest{};
    timespec* limit = nullptr;
    if (until != steady::time_point::max()) {
        const auto left = std::max(until - steady::now(), steady::duration::zero());
        const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
        rest.tv_sec = seconds.count();
        rest.tv_nsec = std::chrono::nanoseconds{left - seconds}.count();
        limit = &rest;
    }
    if (::ppoll(watched.data(), watched.size(), limit, nullptr) < 0) {
        for (auto& entry : watched) {
            entry.revents = 0;
        }
    }
    std::uint64_t ignored = 0;
    if (::read(wakeup_.get(), &ignored, sizeof ignored) < 0) {
        return;
    }  // nobody called
}

void poll_thread::do_jobs() {
    std::deque<std::function<void()>> jobs;
    {
        const std::lock_guard lock{mutex_};
        jobs.swap(jobs_);
    }
    for (const auto& job : jobs) {
        job();
    }
}

}  // namespace tranca::testing
