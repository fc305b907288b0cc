#include <tranca/keeper.hpp>

#include <signal.h>

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

namespace tranca {

namespace {

// Signals of the application are for its own threads.
std::thread start_quiet_thread(auto work) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread started{std::move(work)};
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return started;
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
}

// A listener that destroys the client runs on one of the threads to be joined.
void join_or_detach(std::thread& thread) {
    if (!thread.joinable()) return;
    if (thread.get_id() == std::this_thread::get_id()) thread.detach();
    else thread.join();
}

}  // namespace

// State and loops of the threads.
struct keeper::threads : std::enable_shared_from_this<threads> {
    std::mutex mutex;
    bool stopping = false;

    std::condition_variable timer_wakes;
    std::set<std::pair<clock::time_point, const lease*>> due;
    std::map<const lease*, std::pair<clock::time_point, std::weak_ptr<lease>>> watched;
    std::thread timer;

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
        if (due.empty()) {
            timer_wakes.wait(lock);
            continue;
        }
        const auto [when, address] = *due.begin();
        if (clock::now() < when) {
            timer_wakes.wait_until(lock, when);
            continue;
        }
        auto held = watched.at(address).second.lock();
        remove(address);
        if (!held) continue;
        lock.unlock();
        const auto next = held->check_time(clock::now());
        lock.lock();
        if (next) insert(held, *next);
        else if (held->is_lost()) announce(held);
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
    join_or_detach(threads_->timer);  // first: it is who starts tellers
    for (auto& teller : threads_->tellers)
        join_or_detach(teller);
}

void keeper::watch(const std::shared_ptr<lease>& held) {
    const std::lock_guard lock{threads_->mutex};
    if (threads_->tellers.empty()) threads_->start_teller();
    if (!threads_->timer.joinable()) threads_->timer = start_quiet_thread([shared = threads_] { shared->keep_time(); });
    threads_->insert(held, held->safe_until());
    threads_->timer_wakes.notify_one();
}

void keeper::forget(const lease& ended) noexcept {
    const std::lock_guard lock{threads_->mutex};
    threads_->remove(&ended);
}

keeper& keeper_of(connection_pool& pool) {
    const auto made = pool.companion([]() -> std::shared_ptr<void> { return std::make_shared<keeper>(); });
    return *static_cast<keeper*>(made.get());
}

}  // namespace tranca
