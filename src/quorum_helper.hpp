#pragma once

// The thread of a quorum_node, and what both of them look after: connections at rest, those that owe answers, words to be said.
//
//     const std::lock_guard lock{helper->mutex};
//     helper->wanted.push_back(pending);  helper->start();
//
// Promises: connects, says last words and reads late answers, one thing at a time; ends when `stopping` is set, and a
// connect under way no later than its own limits. See quorum_node.hpp.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "owing_connection.hpp"
#include "pending_connection.hpp"

namespace tranca {

/// See the top of this file. What is open here is guarded by `mutex`, and used by its node alone.
class quorum_helper : public std::enable_shared_from_this<quorum_helper> {
public:
    std::mutex mutex;
    std::condition_variable wakes;
    std::optional<endpoint> where;
    bool stopping = false;
    std::thread runner;
    bool is_away = false;  // the thread: connecting, or asking
    std::shared_ptr<std::atomic<bool>> ended = std::make_shared<std::atomic<bool>>(false);
    bool answers = true;   // as far as is known
    bool looking = false;  // the thread: now and then, by itself
    std::vector<connection> idle;
    clock::time_point rested_at{};  // the last of them
    std::vector<owing_connection> left;
    std::deque<last_word> words;
    clock::time_point next_word = clock::time_point::min();
    std::deque<std::shared_ptr<pending_connection>> wanted;
    std::optional<clock::time_point> trying_since;

    void start();
    void work();
    void look_at_left(clock::time_point now);
    void rest(connection redis);
    void keep_word(last_word word);
    void connect_once(std::unique_lock<std::mutex>& lock);
    void say_words(std::unique_lock<std::mutex>& lock, connection& redis);
    void hand_out(connection made);
    void fail_all(const error& failure);
    [[nodiscard]] bool has_work(clock::time_point now) const {
        return !wanted.empty() || (!words.empty() && now >= next_word);
    }
};

}  // namespace tranca
