// How a pool finds its way through a Cluster.
#include <thread>

#include <tranca/connection_pool.hpp>
#include <tranca/hash_slot.hpp>

#include "connection_shelf.hpp"

namespace tranca {

namespace {

// Before a node is asked again that has said TRYAGAIN or CLUSTERDOWN.
constexpr milliseconds pause_in_cluster{10};

}  // namespace

connection_pool::borrowed connection_pool::borrow_from(const cluster_endpoint::address& node) {
    auto& mine = current_shelf();
    while (auto candidate = mine.take_idle(node))
        if (!candidate->stale()) return {*this, std::move(*candidate), true};
    try {
        return {*this, connection{cluster_->reach(node)}, false};
    } catch (const error&) {
        mine.router->doubt(node);
        throw;
    }
}

connection_pool::borrowed connection_pool::borrow_in_cluster(std::string_view about, const detour& way) {
    if (way.ask) {
        auto lent = borrow_from(*way.ask);
        lent->ask_first(true);
        return lent;
    }
    return about.empty() ? borrow_from_any() : borrow_from_owner(hash_slot(about));
}

// A node that is gone is a reason to ask who has taken its place.
connection_pool::borrowed connection_pool::borrow_from_owner(unsigned slot) {
    auto& router = *current_shelf().router;
    const auto node = router.node_of(slot);
    try {
        return borrow_from(node);
    } catch (const error& failure) {
        if (failure.reason() != errc::connect_failed) throw;
        const auto next = router.node_of(slot);
        if (next == node) throw;
        return borrow_from(next);
    }
}

connection_pool::borrowed connection_pool::borrow_from_any() {
    const auto nodes = masters();
    for (const auto& node : nodes) {
        try {
            return borrow_from(node);
        } catch (const error& failure) {
            if (failure.reason() != errc::connect_failed || node == nodes.back()) throw;
        }
    }
    throw error(errc::cluster_down, "no node of " + cluster_->printable() + " serves any slot");
}

bool connection_pool::follow(detour& way, connection& used, const error& failure) {
    if (!is_cluster()) return false;
    if (redirect(way, used, failure)) return true;
    if (failure.reason() != errc::try_again && failure.reason() != errc::cluster_down) return false;
    if (failure.reason() == errc::cluster_down) doubt_map();
    if (!way.until) way.until = deadline_after(where_.command_timeout);
    if (clock::now() + pause_in_cluster >= *way.until) return false;
    std::this_thread::sleep_for(pause_in_cluster);
    way.ask.reset();
    way.redirections = 0;
    return true;
}

bool connection_pool::redirect(detour& way, const connection& used, const error& failure) {
    if (!is_cluster() || (failure.reason() != errc::moved && failure.reason() != errc::ask)) return false;
    if (used.redirected() && redirect(way, *used.redirected())) return true;
    throw error{errc::try_again, failure.text() + "; it cannot be followed, or was one too many"}.in_doubt_if(
        failure.in_doubt());
}

bool connection_pool::redirect(detour& way, const redirection& elsewhere) {
    if (way.is_exhausted()) return false;
    ++way.redirections;
    way.ask.reset();
    if (elsewhere.kind == redirection::kinds::ask) way.ask = elsewhere.to;
    else current_shelf().router->learn(elsewhere);
    return true;
}

std::vector<cluster_endpoint::address> connection_pool::masters() { return current_shelf().router->masters(); }

void connection_pool::doubt_map() noexcept {
    auto& router = current_shelf().router;
    if (router) router->doubt();
}

bool connection_pool::checked_in_cluster(unsigned index, std::string_view about) const noexcept {
    const auto& router = *current_shelf().router;
    const auto node = router.known(hash_slot(about));
    return node && router.checked(*node, index);
}

}  // namespace tranca
