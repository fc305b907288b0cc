#include <tranca/keeper.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "quiet_thread.hpp"
#include "renewer.hpp"

namespace tranca {

// State and loops of the threads.
struct keeper::threads : std::enable_shared_from_this<threads> {
    std::mutex mutex;
    bool stopping = false;

    std::condition_variable timer_wakes;
    std::set<std::pair<clock::time_point, const lease*>> due;
    std::map<const lease*, std::pair<clock::time_point, std::weak_ptr<lease>>> watched;
    std::thread timer;
    clock::time_point timer_sleeps_until = clock::time_point::min();  // while it is awake

    std::unique_ptr<renewer> renewals;

    std::condition_variable teller_wakes;
    std::deque<std::shared_ptr<lease>> lost;
    std::vector<std::thread> tellers;
    std::size_t free_tellers = 0;

    void remove(const lease* held) {
        const auto found = watched.find(held);
        if (found == watched.end()) return;
        due.erase({found->second.first, held});
        watched.erase(found);
    }

    void insert(const std::shared_ptr<lease>& held, clock::time_point when) {
        remove(held.get());
        due.emplace(when, held.get());
        watched.emplace(held.get(), std::pair{when, std::weak_ptr{held}});
    }

    // After a look at it without the lock: a watch() meanwhile knew better.
    void insert_unless_newer(const std::shared_ptr<lease>& held, clock::time_point when) {
        if (!watched.contains(held.get())) insert(held, when);
    }

    void renew(const std::shared_ptr<lease>& held) {
        try {
            if (!renewals) renewals = std::make_unique<renewer>();
            renewals->add(held);
        } catch (const std::exception&) {
            // No thread to be had: not renewed, and its loss is told in time.
        }
    }

    // On a thread of its own, so that a slow listener stops neither the clock nor the news of another loss.
    void announce(const std::shared_ptr<lease>& held) {
        lost.push_back(held);
        try {
            if (lost.size() > free_tellers) start_teller();
        } catch (const std::exception&) {
            // No thread to be had: it is told when one of the others comes free.
        }
        teller_wakes.notify_one();
    }

    void start_teller() {
        tellers.push_back(start_quiet_thread([shared = shared_from_this()] { shared->tell(); }));
        ++free_tellers;
    }

    void keep_time();
    void tell();
};

void keeper::threads::keep_time() {
    std::unique_lock lock{mutex};
    while (!stopping) {
        const auto when = due.empty() ? clock::time_point::max() : due.begin()->first;
        if (clock::now() < when) {
            timer_sleeps_until = when;
            timer_wakes.wait_until(lock, when);
            timer_sleeps_until = clock::time_point::min();
            continue;
        }
        const auto* const address = due.begin()->second;
        auto held = watched.at(address).second.lock();
        remove(address);
        if (!held) continue;
        lock.unlock();
        const auto found = held->check_time(clock::now());
        lock.lock();
        if (found.next) insert_unless_newer(held, *found.next);
        else if (held->is_lost()) announce(held);
        if (found.renew) renew(held);
        // The last owner may be this thread; what it then destroys may call forget().
        lock.unlock();
        held.reset();
        lock.lock();
    }
}

void keeper::threads::tell() {
    std::unique_lock lock{mutex};
    for (;;) {
        teller_wakes.wait(lock, [&] { return stopping || !lost.empty(); });
        if (lost.empty()) return;
        auto next = std::move(lost.front());
        lost.pop_front();
        --free_tellers;
        lock.unlock();
        next->announce_loss();
        next.reset();
        lock.lock();
        ++free_tellers;
    }
}

keeper::keeper() : threads_(std::make_shared<threads>()) {}

keeper::~keeper() {
    {
        const std::lock_guard lock{threads_->mutex};
        threads_->stopping = true;
    }
    threads_->timer_wakes.notify_all();
    threads_->teller_wakes.notify_all();
    join_or_detach(threads_->timer);  // first: it is who starts the others
    if (threads_->renewals) threads_->renewals->stop();
    for (auto& teller : threads_->tellers)
        join_or_detach(teller);
}

void keeper::watch(const std::shared_ptr<lease>& held) {
    const std::lock_guard lock{threads_->mutex};
    if (threads_->tellers.empty()) threads_->start_teller();
    if (!threads_->timer.joinable()) threads_->timer = start_quiet_thread([shared = threads_] { shared->keep_time(); });
    const auto when = held->next_check();
    threads_->insert(held, when);
    // A lease that came and went leaves the timer to wake once for nothing: cheaper than waking it for each.
    if (when < threads_->timer_sleeps_until) threads_->timer_wakes.notify_one();
}

void keeper::announce(const std::shared_ptr<lease>& lost) noexcept {
    const std::lock_guard lock{threads_->mutex};
    threads_->remove(lost.get());
    threads_->announce(lost);
}

void keeper::forget(const lease& ended) noexcept {
    const std::lock_guard lock{threads_->mutex};
    threads_->remove(&ended);
}

keeper& keeper_of(connection_pool& pool) { return *pool.companion<keeper>(); }

}  // namespace tranca
