#include "quorum_node.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <tranca/error.hpp>

#include "fork_guard.hpp"
#include "quiet_thread.hpp"
#include "quorum_helper.hpp"
#include "unfinished_threads.hpp"

namespace tranca {

namespace {

constexpr std::size_t most_left = 64;
constexpr milliseconds just_now{10};  // a healthy node has but not been waited for

// Who has heard from the other end so shortly before need not look whether it has closed.
constexpr std::chrono::microseconds still_open{200};

}  // namespace

quorum_node::quorum_node() : helper_(std::make_shared<quorum_helper>()), generation_(fork_generation()) {}

// The thread must be gone before the process ends; one that is kept by its node is not waited for here.
quorum_node::~quorum_node() {
    if (generation_ != fork_generation()) {
        // In a child there is no such thread, and what it held stays as it was.
        static_cast<void>(new std::shared_ptr<quorum_helper>(std::move(helper_)));
        return;
    }
    std::thread runner;
    bool is_away = false;
    {
        const std::lock_guard lock{helper_->mutex};
        helper_->stopping = true;
        runner = std::move(helper_->runner);
        is_away = helper_->is_away;
        helper_->wakes.notify_one();
    }
    if (is_away) unfinished_threads::of_this_process().add(std::move(runner), helper_->ended);
    else join_or_detach(runner);
}

void quorum_node::serve(const endpoint& where) {
    const std::lock_guard lock{helper_->mutex};
    if (!helper_->where) helper_->where = where;
}

std::string quorum_node::where() const {
    const std::lock_guard lock{helper_->mutex};
    return helper_->where->printable();
}

std::optional<owing_connection> quorum_node::take() {
    auto& mine = *helper_;
    const auto now = clock::now();
    const std::lock_guard lock{mine.mutex};
    if (!mine.left.empty()) mine.look_at_left(now);
    if (!mine.words.empty()) mine.start();
    // What is sent where the other end has closed would be in doubt for nothing.
    const bool looks = now - mine.rested_at > still_open;
    while (!mine.idle.empty()) {
        auto candidate = std::move(mine.idle.back());
        mine.idle.pop_back();
        if (candidate.usable() && !(looks && candidate.stale())) return owing_connection{std::move(candidate)};
    }
    if (mine.left.empty() || !mine.left.back().redis.usable() || now - *mine.left.back().since > just_now)
        return std::nullopt;
    auto last = std::move(mine.left.back());
    mine.left.pop_back();
    return last;
}

std::shared_ptr<pending_connection> quorum_node::connect(milliseconds limit) {
    auto& mine = *helper_;
    const std::lock_guard lock{mine.mutex};
    const bool is_stuck = mine.trying_since && *mine.trying_since + limit <= clock::now();
    auto pending = std::make_shared<pending_connection>(mine.answers && !is_stuck);
    std::erase_if(mine.wanted, [](const auto& one) { return one->is_given_up(); });
    mine.wanted.push_back(pending);
    mine.start();
    return pending;
}

void quorum_node::give_back(connection redis) noexcept {
    try {
        const std::lock_guard lock{helper_->mutex};
        helper_->rest(std::move(redis));
    } catch (const std::exception&) {
        // No memory to keep it: it is closed.
    }
}

void quorum_node::leave(owing_connection line) noexcept {
    try {
        auto& mine = *helper_;
        if (!line.since) line.since = clock::now();
        const std::lock_guard lock{mine.mutex};
        if (mine.left.size() >= most_left) {
            for (auto& word : mine.left.front().words)
                mine.keep_word(std::move(word));
            mine.left.erase(mine.left.begin());
        }
        mine.left.push_back(std::move(line));
        // Who looks now and then need not be woken: a busy client leaves one with every cycle.
        if (!mine.looking) mine.start();
    } catch (const std::exception&) {
        // No memory or no thread: the ttl is the backstop.
    }
}

void quorum_node::deliver(std::vector<last_word> words) noexcept {
    try {
        const std::lock_guard lock{helper_->mutex};
        for (auto& word : words)
            helper_->keep_word(std::move(word));
        helper_->start();
    } catch (const std::exception&) {
        // As above.
    }
}

void quorum_node::went_silent() noexcept {
    drop_idle();
    const std::lock_guard lock{helper_->mutex};
    helper_->answers = false;
}

void quorum_node::drop_idle() noexcept {
    std::vector<connection> dropped;
    const std::lock_guard lock{helper_->mutex};
    dropped.swap(helper_->idle);
}

}  // namespace tranca
