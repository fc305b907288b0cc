#include <tranca/connection_pool.hpp>

#include <exception>
#include <map>
#include <mutex>
#include <typeindex>

#include "fork_guard.hpp"

namespace tranca {

// What one process keeps of a pool.
struct connection_pool::shelf {
    const std::uint64_t generation = fork_generation();
    std::mutex mutex;
    std::vector<connection> idle;
    std::stop_source closing;
    std::atomic<bool> closed = false;
    std::map<std::type_index, std::shared_ptr<void>> companions;
};

connection_pool::connection_pool(endpoint where, client_options options)
    : where_(std::move(where)), options_(std::move(options)), shelf_(nullptr) {
    where_.validate();
    shelf_.store(new shelf);
}

connection_pool::~connection_pool() {
    // A child leaks what it inherited: a mutex in it may be locked by a thread that only the parent has.
    auto* const mine = shelf_.load();
    if (mine->generation == fork_generation()) delete mine;
}

connection_pool::shelf& connection_pool::current_shelf() const {
    auto* found = shelf_.load(std::memory_order_acquire);
    if (found->generation == fork_generation()) return *found;
    auto fresh = std::make_unique<shelf>();
    if (shelf_.compare_exchange_strong(found, fresh.get())) return *fresh.release();
    return *found;
}

connection_pool::borrowed connection_pool::borrow() {
    auto& mine = current_shelf();
    for (;;) {
        std::optional<connection> candidate;
        {
            const std::lock_guard lock{mine.mutex};
            if (mine.idle.empty()) break;
            candidate.emplace(std::move(mine.idle.back()));
            mine.idle.pop_back();
        }
        if (!candidate->stale()) return {*this, std::move(*candidate), true};
    }
    return {*this, connection{where_}, false};
}

void connection_pool::give_back(connection redis) noexcept {
    if (!redis.usable() || redis.awaited() > 0) return;
    auto& mine = current_shelf();
    const std::lock_guard lock{mine.mutex};
    if (mine.closed || mine.idle.size() >= options_.max_idle_connections) return;
    try {
        mine.idle.push_back(std::move(redis));
    } catch (const std::exception&) {
        // No memory to keep it: it is closed.
    }
}

void connection_pool::drop_idle() noexcept {
    auto& mine = current_shelf();
    std::vector<connection> dropped;
    const std::lock_guard lock{mine.mutex};
    dropped.swap(mine.idle);
}

std::shared_ptr<void> connection_pool::companion(const std::type_info& kind, std::shared_ptr<void> (*make)()) {
    auto& mine = current_shelf();
    const std::lock_guard lock{mine.mutex};
    auto& found = mine.companions[kind];
    if (!found) found = make();
    return found;
}

std::stop_token connection_pool::closing() const { return current_shelf().closing.get_token(); }

void connection_pool::close() noexcept {
    auto& mine = current_shelf();
    mine.closed = true;
    mine.closing.request_stop();
    drop_idle();
}

void connection_pool::report(event::kind what, const key& about, std::string_view detail,
                             std::chrono::nanoseconds elapsed) const noexcept {
    const event happening{what, about.bytes(), detail, elapsed};
    if (options_.sink) options_.sink->on(happening);
    if (!options_.on_event || !is_failure(what)) return;
    try {
        options_.on_event(happening);
    } catch (...) {
        // There is nobody left to tell.
    }
}

}  // namespace tranca
