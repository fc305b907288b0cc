#include "connection_shelf.hpp"

namespace tranca {

std::optional<connection> connection_pool::shelf::take_idle(const cluster_endpoint::address& node) {
    std::vector<connection> outdated;  // closed with nothing locked: somebody may hear of a release by it
    const std::lock_guard lock{mutex};
    if (version_seen != router->version()) {
        version_seen = router->version();
        outdated = take_all([&](const connection& one) { return !router->is_master(address_of(one.where())); });
    }
    const auto found = std::find_if(idle.rbegin(), idle.rend(), [&](const auto& one) { return leads_to(one, node); });
    if (found == idle.rend()) return std::nullopt;
    std::optional<connection> taken{std::move(*found)};
    idle.erase(std::next(found).base());
    return taken;
}

std::size_t connection_pool::shelf::idle_to(const cluster_endpoint::address& node) const {
    return static_cast<std::size_t>(std::ranges::count_if(idle, [&](const auto& one) { return leads_to(one, node); }));
}

}  // namespace tranca
