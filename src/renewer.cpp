#include "renewer.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <tranca/script.hpp>

#include "quiet_thread.hpp"

namespace tranca {

namespace {

// Each is locked while its renewal is under way; more in one write would gain nothing.
constexpr std::size_t batch_size = 32;

using batch = std::vector<std::shared_ptr<lease>>;

// For how long to wait for the answers: half of what is left of the shortest lease at most, so that there is time for
// another try on another connection.
clock::time_point patience(const batch& some, clock::time_point sent) {
    auto until = deadline_after(some.front()->pool().where().command_timeout, sent);
    for (const auto& each : some)
        until = std::min(until, sent + (each->safe_until() - sent) / 2);
    return until;
}

}  // namespace

struct renewer::crew {
    std::mutex mutex;
    std::condition_variable wakes;
    bool stopping = false;
    std::deque<std::shared_ptr<lease>> due;
    std::thread thread;

    std::optional<connection> redis;  // the thread's alone

    void work();
    void renew(const batch& some);
    [[nodiscard]] std::optional<std::vector<reply>> ask(std::span<const script_call> calls, clock::time_point until);
    void connect(connection_pool& pool);
};

void renewer::crew::work() {
    std::unique_lock lock{mutex};
    for (;;) {
        wakes.wait(lock, [&] { return stopping || !due.empty(); });
        if (stopping) return;
        batch some;
        while (!due.empty() && some.size() < batch_size) {
            some.push_back(std::move(due.front()));
            due.pop_front();
        }
        lock.unlock();
        renew(some);
        some.clear();  // perhaps the last owners, whose end must not meet the lock
        lock.lock();
    }
}

void renewer::crew::renew(const batch& some) {
    connect(some.front()->pool());  // before any lease is locked: it may take a while
    batch locked;
    std::vector<script_call> calls;
    locked.reserve(some.size());
    calls.reserve(some.size());
    for (const auto& each : some) {
        auto call = each->begin_renewal();
        if (!call) continue;
        calls.push_back(std::move(*call));
        locked.push_back(each);
    }
    if (locked.empty()) return;
    const auto sent = clock::now();
    const auto answers = ask(calls, patience(locked, sent));
    for (std::size_t i = 0; i < locked.size(); ++i)
        locked[i]->finish_renewal(answers ? &(*answers)[i] : nullptr, sent);
}

void renewer::crew::connect(connection_pool& pool) {
    if (redis && redis->usable() && !redis->stale()) return;
    redis.reset();
    try {
        redis.emplace(pool.where());
    } catch (const std::exception&) {
        // Tried again with the next batch.
    }
}

std::optional<std::vector<reply>> renewer::crew::ask(std::span<const script_call> calls, clock::time_point until) {
    if (!redis) return std::nullopt;
    try {
        return run_all(*redis, calls, until);
    } catch (const std::exception&) {
        redis.reset();
        return std::nullopt;
    }
}

renewer::renewer() : crew_(std::make_shared<crew>()) {
    crew_->thread = start_quiet_thread([shared = crew_] { shared->work(); });
}

renewer::~renewer() { stop(); }

void renewer::add(const std::shared_ptr<lease>& due) {
    const std::lock_guard lock{crew_->mutex};
    crew_->due.push_back(due);
    crew_->wakes.notify_one();
}

void renewer::stop() noexcept {
    {
        const std::lock_guard lock{crew_->mutex};
        crew_->stopping = true;
    }
    crew_->wakes.notify_all();
    join_or_detach(crew_->thread);
}

}  // namespace tranca
