// actor: a client of a scenario on a thread of its own, which stands still before each of its exchanges.
//
//     one.start([&] { lock.try_acquire(); });         // returns when it is about to send, or has ended
//     one.go_on(exchange_hook::fate::answered);       // sends, hears the answer, and goes on to its next exchange
//
// Only one thread of all runs at any time: the caller's or that of one actor. Throws std::runtime_error if an actor does not
// come back: it waits for something that no schedule gives it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "exchange_hook.hpp"

namespace tranca::interleave {

class actor {
public:
    enum class place { over, sending, sent, waiting };  // waiting: asleep until an answer comes

    actor() : thread_([this] { run(); }) {}
    ~actor();
    actor(const actor&) = delete;
    actor& operator=(const actor&) = delete;

    void start(std::function<void()> body);
    void go_on(exchange_hook::fate decided);

    // The same in two: sends, and stands; then hears the answer, which must be there or come, and goes on.
    void only_send();
    void hear() { give_turn_to_client(); }
    void end_wait(exchange_hook::wait decided);

    // Whatever it tries from now on is refused; returns when its body has ended.
    void dismiss();

    [[nodiscard]] place where() const { return where_; }
    [[nodiscard]] bool is_dismissed() const { return dismissed_; }

    // What it is about to send, as it goes over the wire; the socket for that, or that it waits at.
    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

    // On the thread of an actor: that one. Elsewhere nullptr.
    [[nodiscard]] static actor* current() noexcept;
    [[nodiscard]] exchange_hook::fate stop_before_send(std::string_view bytes, int descriptor);
    void stop_after_send();
    [[nodiscard]] exchange_hook::wait stop_before_wait(int descriptor);

private:
    enum class turn { scheduler, client, end };

    void run();
    void give_turn_to_client();
    void stand_at(place where);

    std::mutex mutex_;
    std::condition_variable turned_;
    turn turn_{turn::scheduler};
    std::function<void()> body_;
    place where_{place::over};
    exchange_hook::fate fate_{};
    exchange_hook::wait wait_{};
    bool only_sends_{false};
    bool dismissed_{false};
    std::string bytes_;
    int descriptor_{-1};
    std::thread thread_;
};

}  // namespace tranca::interleave
