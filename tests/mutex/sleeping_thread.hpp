// sleeping_thread: a thread that runs something that blocks, and that can be asked whether it sleeps.
//
//     sleeping_thread waiter{[&] { held = lock.acquire(); }};
//     ASSERT_TRUE(waiter.sleeps());        // it is in the queue: there is nothing else it could wait for
#pragma once

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "support/deadline.hpp"

namespace tranca::mutex_test {

class sleeping_thread {
public:
    template <class Body>
    explicit sleeping_thread(Body body)
        : thread_{[this, run = std::move(body)]() mutable {
              number_ = ::gettid();
              run();
              done_ = true;
          }} {}

    [[nodiscard]] bool sleeps() const {
        int asleep = 0;  // a few times in a row: not for the moment of an allocation
        return testing::eventually(std::chrono::seconds{5}, [&] {
            asleep = state() == 'S' ? asleep + 1 : 0;
            return asleep == 3;
        });
    }
    [[nodiscard]] bool done_within(std::chrono::milliseconds limit) const {
        return testing::eventually(limit, [&] { return done_.load(); });
    }
    [[nodiscard]] bool done() const { return done_; }

private:
    // As /proc tells it: "4711 (name) S ..."
    [[nodiscard]] char state() const {
        if (number_ == 0 || done_) return '?';
        std::string line;
        std::getline(std::ifstream{"/proc/self/task/" + std::to_string(number_) + "/stat"}, line);
        const auto name_ends = line.rfind(')');
        return name_ends == std::string::npos ? '?' : line.at(name_ends + 2);
    }

    std::atomic<pid_t> number_{0};
    std::atomic<bool> done_{false};
    std::jthread thread_;
};

}  // namespace tranca::mutex_test
