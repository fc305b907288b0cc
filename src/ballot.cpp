#include "ballot.hpp"

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include <tranca/error.hpp>

namespace tranca {

namespace {

constexpr milliseconds between_cuts{5};           // how late a stop request may be heard
constexpr milliseconds least_patience{10};        // with a connection that is being made
constexpr std::chrono::microseconds moment{500};  // a connection that is being made is looked at so often

}  // namespace

ballot::ballot(quorum_lines& lines, script_call call, clock::time_point until, std::function<bool()> cut)
    : lines_(lines), call_(std::move(call)), until_(until), cut_(std::move(cut)), seats_(lines.size()) {}

ballot::~ballot() {
    const bool late = !decided_ && clock::now() >= until_;
    for (std::size_t node = 0; node < seats_.size(); ++node) {
        stop_connecting(node);
        if (late && seats_[node].now == phase::asked) lines_[node].node->went_silent();
    }
    lines_.rest();
}

std::size_t ballot::open() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        seats_, [](const seat& one) { return one.now == phase::connecting || one.now == phase::asked; }));
}

milliseconds ballot::time_left() const { return std::max(ceil_milliseconds(until_ - clock::now()), milliseconds{1}); }

const request& ballot::command(connection& redis) {
    for (const auto& form : call_.native)
        if (redis.features(until_).*(form.needs)) return form.command;
    if (call_.has_hash) return call_.command;
    if (!whole_) {
        const auto hash = call_.what->hash();
        whole_ = hash.empty() ? by_text(call_) : call_.command.with_first_two("EVALSHA", hash);
    }
    return *whole_;
}

void ballot::put(std::size_t node) {
    auto& line = lines_[node];
    if (line.redis && line.redis->usable()) return write(node, true);
    if (take_connection(line)) write(node, true);
    else connect(node);
}

void ballot::skip_hopeless(std::size_t needed) {
    const auto is_hopeless = [](const seat& one) { return one.now == phase::connecting && !one.pending->is_hopeful(); };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(seats_, is_hopeless));
    if (count == 0 || seats_.size() - count < needed) return;
    for (std::size_t node = 0; node < seats_.size(); ++node) {
        if (!is_hopeless(seats_[node])) continue;
        seats_[node].now = phase::done;
        stop_connecting(node);
        heard_.push_back(
            {.node = node,
             .failure = error(errc::timeout, "connecting to " + lines_[node].node->where() + ": no answer yet",
                              seats_[node].unheard ? effect::in_doubt : effect::none)});
    }
}

void ballot::write(std::size_t node, bool rested) {
    auto& line = lines_[node];
    auto& mine = seats_[node];
    mine.rested = rested;
    try {
        line.redis->send(command(*line.redis), until_);
        mine.now = phase::asked;
        mine.sent = true;
    } catch (const error& failure) {
        mine.sent = mine.sent || failure.in_doubt();
        fail(node, failure);
    }
}

void ballot::connect(std::size_t node) {
    auto& mine = seats_[node];
    try {
        mine.pending = lines_[node].node->connect(time_left());
        mine.now = phase::connecting;
    } catch (const std::exception& failure) {
        mine.now = phase::done;
        const auto outcome = mine.unheard ? effect::in_doubt : effect::none;
        heard_.push_back({.node = node, .failure = error(errc::connect_failed, failure.what(), outcome)});
    }
}

void ballot::stop_connecting(std::size_t node) noexcept {
    const auto pending = std::exchange(seats_[node].pending, nullptr);
    if (!pending) return;
    if (auto made = pending->give_up()) lines_[node].node->give_back(std::move(*made));
}

void ballot::look_at_connecting() {
    for (std::size_t node = 0; node < seats_.size(); ++node) {
        auto& mine = seats_[node];
        if (mine.now != phase::connecting) continue;
        auto found = mine.pending->collect();
        if (!found) continue;
        mine.pending.reset();
        if (found->made) {
            lines_[node].redis = std::move(found->made);
            write(node, false);
        } else {
            mine.now = phase::done;
            heard_.push_back({.node = node, .failure = found->failure->in_doubt_if(mine.unheard)});
        }
    }
}

// A connection that had been at rest may have been closed at the other end: once more on another.
void ballot::fail(std::size_t node, const error& failure) {
    auto& mine = seats_[node];
    const bool broke = failure.reason() == errc::connection_lost;
    drop_connection(lines_[node]);
    if (mine.rested && broke) {
        mine.rested = false;
        mine.unheard = failure.in_doubt();
        lines_[node].node->drop_idle();
        return connect(node);
    }
    mine.now = phase::done;
    heard_.push_back({.node = node, .failure = failure.in_doubt_if(mine.unheard)});
}

void ballot::hear(std::size_t node, reply answer) {
    auto& mine = seats_[node];
    auto& redis = *lines_[node].redis;
    if (is_unknown_script(answer) && !mine.by_text) {
        mine.by_text = true;
        try {
            return redis.send(by_text(call_), until_);
        } catch (const error& failure) {
            return fail(node, failure);
        }
    }
    mine.now = phase::done;
    if (!answer.is_error()) return heard_.push_back({.node = node, .said = std::move(answer)});
    try {
        throw_if_error(answer, call_.command, redis.where());
    } catch (const error& failure) {
        heard_.push_back({.node = node, .failure = failure.in_doubt_if(mine.unheard)});
    }
}

// Answers that nobody waits for any more come first.
void ballot::read(std::size_t node) {
    auto& redis = *lines_[node].redis;
    try {
        auto answer = redis.receive(until_);
        if (redis.awaited() == 0) hear(node, std::move(answer));
        else if (is_unknown_script(answer)) lines_[node].node->drop_idle();
    } catch (const error& failure) {
        fail(node, failure);
    }
}

bool ballot::is_over() const { return clock::now() >= until_ || (cut_ && cut_()); }

void ballot::wait() {
    polled_.clear();
    polled_nodes_.clear();
    auto until = cut_ ? std::min(until_, clock::now() + between_cuts) : until_;
    for (std::size_t node = 0; node < seats_.size(); ++node) {
        if (seats_[node].now == phase::connecting) until = std::min<clock::time_point>(until, clock::now() + moment);
        if (seats_[node].now != phase::asked) continue;
        if (lines_[node].redis->has_bytes()) return read(node);
        polled_.push_back({.fd = lines_[node].redis->descriptor(), .events = POLLIN, .revents = 0});
        polled_nodes_.push_back(node);
    }
    const auto left = std::max<clock::duration>(until - clock::now(), clock::duration::zero());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec limit{.tv_sec = static_cast<time_t>(seconds.count()),
                         .tv_nsec = static_cast<long>(std::chrono::nanoseconds{left - seconds}.count())};
    if (::ppoll(polled_.data(), polled_.size(), &limit, nullptr) <= 0) return;
    for (std::size_t i = 0; i < polled_.size(); ++i)
        if (polled_[i].revents != 0) read(polled_nodes_[i]);
}

bool ballot::is_connecting() const noexcept {
    return std::ranges::any_of(
        seats_, [](const seat& one) { return one.now == phase::connecting && one.pending->is_hopeful(); });
}

void ballot::reach_the_rest() {
    decided_ = true;
    if (!is_connecting()) return;
    const auto now = clock::now();
    until_ = std::min(until_, now + 3 * (now - begun_) + least_patience);
    while (is_connecting() && !is_over()) {
        wait();
        look_at_connecting();
    }
}

std::optional<node_answer> ballot::already_heard() {
    if (heard_.empty()) return std::nullopt;
    auto first = std::move(heard_.front());
    heard_.pop_front();
    return first;
}

std::optional<node_answer> ballot::next() {
    for (;;) {
        if (auto first = already_heard()) return first;
        if (open() == 0) return std::nullopt;
        look_at_connecting();
        if (!heard_.empty()) continue;
        wait();
        if (heard_.empty() && is_over()) return std::nullopt;
    }
}

namespace {

// An answer that is none is a failure of that node, and of no other.
vote understand(const node_answer& heard, const meaning& means) {
    try {
        return means(heard);
    } catch (const error& nonsense) {
        return means({.node = heard.node, .failure = error(nonsense.reason(), nonsense.text(), effect::in_doubt)});
    }
}

}  // namespace

void count_answers(ballot& question, tally& votes, const meaning& means) {
    while (votes.state() == tally::stand::open) {
        const auto heard = question.next();
        if (!heard) return votes.close();
        votes.count(understand(*heard, means));
    }
    while (const auto heard = question.already_heard())
        votes.count(understand(*heard, means));
}

}  // namespace tranca
