#include "renewer.hpp"

#include <algorithm>
#include <bitset>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <tranca/script.hpp>

#include "cluster_router.hpp"
#include "node_calls.hpp"
#include "quiet_thread.hpp"

namespace tranca {

namespace {

// Each is locked while its renewal is under way; more in one write would gain nothing.
constexpr std::size_t batch_size = 32;

using batch = std::vector<std::shared_ptr<lease>>;

// For how long to wait for the answers: as long as the most hurried of them may.
clock::time_point patience(const batch& some, clock::time_point sent) {
    auto until = clock::time_point::max();
    for (const auto& each : some)
        until = std::min(until, each->renewal_deadline(sent));
    return until;
}

}  // namespace

struct renewer::crew : std::enable_shared_from_this<crew> {
    std::mutex mutex;
    std::condition_variable wakes;
    bool stopping = false;
    std::deque<std::shared_ptr<lease>> due;
    std::thread thread;

    std::optional<connection> redis;  // the thread's alone

    void start() {
        thread = start_quiet_thread([shared = shared_from_this()] { shared->work(); });
    }
    void add(const std::shared_ptr<lease>& one);
    void stop() noexcept;
    void work();
    void renew(const batch& some);
    [[nodiscard]] std::optional<std::vector<reply>> ask(connection_pool& pool, std::span<const script_call> calls,
                                                        clock::time_point until);
    static void finish(const batch& locked, clock::time_point sent, const auto& answer_to);
    void connect(connection_pool& pool);
    static void reach_node(const lease& one);
    static void ask_nodes(const batch& locked, const std::vector<script_call>& calls, clock::time_point sent);
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
    if (some.front()->renews_apart()) {
        for (const auto& each : some)
            each->renew_apart();
        return;
    }
    auto& pool = some.front()->pool();
    if (pool.is_cluster()) reach_node(*some.front());
    else connect(pool);  // before any lease is locked: it may take a while
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
    if (pool.is_cluster()) return ask_nodes(locked, calls, sent);
    const auto answers = ask(pool, calls, patience(locked, sent));
    finish(locked, sent, [&](std::size_t i) { return answers ? &(*answers)[i] : nullptr; });
}

// All of them are unlocked before the first is told of: an event sink may use the others.
void renewer::crew::finish(const batch& locked, clock::time_point sent, const auto& answer_to) {
    std::bitset<batch_size> renewed;
    for (std::size_t i = 0; i < locked.size(); ++i)
        renewed[i] = locked[i]->finish_renewal(answer_to(i), sent);
    for (std::size_t i = 0; i < locked.size(); ++i)
        if (renewed[i]) locked[i]->tell_renewed();
}

// So that there is an idle connection when the leases are locked. One that cannot be had is tried for again then.
void renewer::crew::reach_node(const lease& one) {
    try {
        static_cast<void>(one.pool().borrow(one.name().bytes()));
    } catch (const std::exception&) {
        // The renewal is not answered, and is tried again.
    }
}

// All of one node, but for those whose slot has moved meanwhile.
void renewer::crew::ask_nodes(const batch& locked, const std::vector<script_call>& calls, clock::time_point sent) {
    std::optional<node_calls> round;
    try {
        std::vector<const script_call*> parts;
        for (const auto& each : calls)
            add_parts(each, parts);
        round.emplace(locked.front()->pool(), parts);
        round->run(patience(locked, sent));
    } catch (const std::exception&) {
        // No memory: what was answered counts.
    }
    finish(locked, sent, [&](std::size_t i) { return round ? round->answer(i) : nullptr; });
}

void renewer::crew::connect(connection_pool& pool) {
    if (redis && pool.is_good(*redis)) return;
    redis.reset();
    try {
        redis.emplace(pool.connect());
    } catch (const std::exception&) {
        // Tried again with the next batch.
    }
}

std::optional<std::vector<reply>> renewer::crew::ask(connection_pool& pool, std::span<const script_call> calls,
                                                     clock::time_point until) {
    if (!redis) return std::nullopt;
    try {
        auto answers = run_all(*redis, calls, until);
        pool.suspect(*redis);  // one may have been READONLY
        return answers;
    } catch (const std::exception&) {
        pool.suspect(*redis);
        redis.reset();
        return std::nullopt;
    }
}

void renewer::crew::add(const std::shared_ptr<lease>& one) {
    const std::lock_guard lock{mutex};
    due.push_back(one);
    wakes.notify_one();
}

void renewer::crew::stop() noexcept {
    {
        const std::lock_guard lock{mutex};
        stopping = true;
    }
    wakes.notify_all();
    join_or_detach(thread);
}

renewer::renewer() : apart_(std::make_shared<crew>()) {}

renewer::~renewer() { stop(); }

std::shared_ptr<renewer::crew>& renewer::crew_for(const lease& due) {
    if (due.renews_apart()) return apart_;
    auto& pool = due.pool();
    auto& found = crews_[pool.is_cluster() ? address_of(pool.server(due.name().bytes())) : cluster_endpoint::address{}];
    if (!found) found = std::make_shared<crew>();
    return found;
}

void renewer::add(const std::shared_ptr<lease>& due) {
    auto& whose = *crew_for(*due);
    if (!whose.thread.joinable()) whose.start();
    whose.add(due);
}

void renewer::stop() noexcept {
    for (auto& [node, one] : crews_)
        if (one) one->stop();
    apart_->stop();
}

}  // namespace tranca
