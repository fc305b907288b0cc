#include <tranca/connection_pool.hpp>

#include <exception>
#include <string>
#include <utility>

#include <tranca/hash_slot.hpp>

#include "connection_shelf.hpp"
#include "event_hold.hpp"

namespace tranca {

connection_pool::connection_pool(endpoint where, client_options options)
    : where_(std::move(where)), options_(std::move(options)), shelf_(nullptr) {
    where_.validate();
    shelf_.store(new shelf{sentinels_, cluster_});
}

connection_pool::connection_pool(sentinel_endpoint where, client_options options)
    : where_(where.server_at({}, 0)), sentinels_(std::move(where)), options_(std::move(options)), shelf_(nullptr) {
    sentinels_->validate();
    shelf_.store(new shelf{sentinels_, cluster_});
}

connection_pool::connection_pool(cluster_endpoint where, client_options options)
    : where_(where.reach({.host = {}, .port = 0})),
      cluster_(std::move(where)),
      options_(std::move(options)),
      shelf_(nullptr) {
    cluster_->validate();
    shelf_.store(new shelf{sentinels_, cluster_});
}

connection_pool::~connection_pool() {
    // A child leaks what it inherited: a mutex in it may be locked by a thread that only the parent has.
    auto* const mine = shelf_.load();
    if (mine->generation == fork_generation()) delete mine;
}

connection_pool::shelf& connection_pool::current_shelf() const {
    auto* found = shelf_.load(std::memory_order_acquire);
    if (found->generation == fork_generation()) return *found;
    auto fresh = std::make_unique<shelf>(sentinels_, cluster_);
    if (shelf_.compare_exchange_strong(found, fresh.get())) return *fresh.release();
    return *found;
}

connection_pool::borrowed connection_pool::borrow_from_server() {
    auto& mine = current_shelf();
    while (!mine.finder || mine.finder->is_sure()) {
        std::optional<connection> candidate;
        {
            const std::lock_guard lock{mine.mutex};
            if (mine.idle.empty()) break;
            candidate.emplace(std::move(mine.idle.back()));
            mine.idle.pop_back();
        }
        const bool leads_there = !mine.finder || mine.finder->leads_to_master(*candidate);
        if (leads_there && !candidate->stale()) return {*this, std::move(*candidate), true};
    }
    return {*this, connect(), false};
}

// For a second sending of what the first one may have done.
connection_pool::borrowed connection_pool::borrow_in_doubt(std::string_view about, const detour& way) {
    try {
        return borrow(about, way);
    } catch (const error& failure) {
        throw failure.in_doubt_if(true);
    }
}

connection_pool::borrowed connection_pool::borrow_beside(const connection& other) {
    return is_cluster() ? borrow_from(address_of(other.where())) : borrow_from_server();
}

connection connection_pool::connect() {
    auto& finder = current_shelf().finder;
    if (!finder) return connection{where_};
    auto found = finder->connect();
    if (found.moved) {
        checked_ = 0;  // accounts are not replicated
        drop_idle();
    }
    return std::move(found.redis);
}

void connection_pool::suspect(const connection& used) noexcept {
    auto& mine = current_shelf();
    if (mine.finder && used.failed()) mine.finder->doubt(used.where());
    if (mine.router && used.failed()) mine.router->doubt(address_of(used.where()));
}

bool connection_pool::is_good(const connection& redis, std::string_view about) noexcept {
    auto& mine = current_shelf();
    auto& finder = mine.finder;
    if (mine.router && !redis.asks_first() && !mine.router->leads_to_master(redis.where(), hash_slot(about)))
        return false;
    return !redis.stale() && (!finder || (finder->is_sure() && finder->leads_to_master(redis)));
}

void connection_pool::give_back(connection redis) noexcept {
    suspect(redis);
    if (!redis.usable()) return;
    remember_reached();
    if (redis.awaited() > 0) return;
    redis.ask_first(false);
    auto& mine = current_shelf();
    const std::lock_guard lock{mine.mutex};
    const auto kept = mine.router ? mine.idle_to(address_of(redis.where())) : mine.idle.size();
    if (mine.closed || kept >= options_.max_idle_connections) return;
    try {
        mine.idle.push_back(std::move(redis));
    } catch (const std::exception&) {
        // No memory to keep it: it is closed.
    }
}

endpoint connection_pool::server(std::string_view about) const {
    const auto& mine = current_shelf();
    if (mine.finder) return mine.finder->known();
    const auto node = mine.router ? mine.router->known(hash_slot(about)) : std::nullopt;
    return node ? cluster_->reach(*node) : where_;
}

void connection_pool::drop_idle(std::string_view about) noexcept {
    auto& mine = current_shelf();
    const auto node = mine.router ? mine.router->known(hash_slot(about)) : std::nullopt;
    std::vector<connection> dropped;
    const std::lock_guard lock{mine.mutex};
    if (node && !about.empty()) dropped = mine.take_all([&](const auto& one) { return leads_to(one, *node); });
    else dropped.swap(mine.idle);
}

void connection_pool::set_checked(unsigned index, std::string_view about) {
    checked_.fetch_or(std::uint64_t{1} << index);
    auto& router = current_shelf().router;
    if (!router) return;
    if (const auto node = router->known(hash_slot(about))) router->set_checked(*node, index);
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
    if (!options_.sink && !(options_.on_event && is_failure(what))) return;
    auto* const hold = event_hold::current();
    if (hold == nullptr) return tell({what, about.bytes(), detail, elapsed});
    try {
        hold->keep([this, what, about, detail = std::string{detail}, elapsed] {
            tell({what, about.bytes(), detail, elapsed});
        });
    } catch (const std::exception&) {
        // No memory to keep it.
    }
}

void connection_pool::tell(const event& happening) const noexcept {
    if (options_.sink) options_.sink->on(happening);
    if (!options_.on_event || !is_failure(happening.what)) return;
    try {
        options_.on_event(happening);
    } catch (...) {
        // There is nobody left to tell.
    }
}

}  // namespace tranca
