// What all acquisitions of one quorum_mutex share, checked once.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tranca/helper_key.hpp>
#include <tranca/quorum_lease.hpp>

namespace tranca {

namespace {

// Names of the loopback are one machine; the database does not make two servers of one.
std::string identity_of(const endpoint& where) {
    if (where.kind == endpoint::transport::unix_socket) return where.path;
    const bool is_loopback = where.host == "localhost" || where.host == "127.0.0.1" || where.host == "::1";
    return fmt::format("{}:{}", is_loopback ? "localhost" : where.host, where.port);
}

std::string require_different(const std::vector<std::shared_ptr<connection_pool>>& nodes) {
    if (nodes.empty()) throw error(errc::invalid_argument, "a quorum needs one node at least");
    std::vector<std::string> known;
    std::string all;
    for (const auto& node : nodes) {
        // A failover would make another server of it, one that may not know what the first one granted.
        if (node->asks_sentinels())
            throw error(errc::invalid_argument, "a quorum's node is one server, not one that sentinels choose");
        if (node->is_cluster()) throw error(errc::invalid_argument, "a quorum's node is one server, not a Cluster");
        auto mine = identity_of(node->where());
        if (std::ranges::find(known, mine) != known.end())
            throw error(errc::invalid_argument, node->where().printable() + ": the same node twice in a quorum");
        all.append(mine).append(" ");
        known.push_back(std::move(mine));
    }
    return all;
}

milliseconds time_limit_of(const quorum_options& options) {
    const auto usual = std::clamp(options.lease.ttl / 20, milliseconds{1}, milliseconds{50});
    const auto limit = options.time_limit.value_or(usual);
    require_positive(limit, "time_limit");
    return limit;
}

// The drift of a quorum is larger than that of one server: the rest of it is put into the margin.
lease_clock rules_of(const quorum_options& options) {
    auto lease = options.lease;
    static_cast<void>(lease_clock{lease});  // refuses bad values by their own names
    const auto drift = options.drift.value_or(ceil_milliseconds(clock::duration{lease.ttl} / 100) + milliseconds{2});
    require_not_negative(drift, "drift");
    if (drift == milliseconds::zero()) return lease_clock{lease};
    const auto margin = lease.margin.value_or(ceil_milliseconds(clock::duration{lease.ttl} / 10));
    if (drift >= lease.ttl || margin + drift >= lease.ttl)
        throw error(errc::invalid_argument, fmt::format("drift ({} ms) and margin ({} ms) leave nothing of ttl ({} ms)",
                                                        drift.count(), margin.count(), lease.ttl.count()));
    lease.margin = margin + drift;
    return lease_clock{lease};
}

std::size_t needed_of(const quorum_options& options, std::size_t nodes) {
    const auto majority = tally::majority_of(nodes);
    const bool one_more = options.confirmations == confirmations::one_more && options.fencing == fencing::on;
    return one_more ? std::min(majority + 1, nodes) : majority;
}

std::string kind_of(const std::string& nodes, const quorum_options& options) {
    const auto count = [](const std::optional<milliseconds>& value) { return value ? value->count() : -1; };
    const auto& lease = options.lease;
    return fmt::format("quorum|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", nodes, lease.ttl.count(), count(lease.renew_every),
                       count(lease.margin), lease.max_hold.count(), static_cast<int>(options.fencing),
                       static_cast<int>(options.confirmations), count(options.time_limit), count(options.drift),
                       options.label);
}

}  // namespace

std::shared_ptr<const quorum_core> make_quorum_core(std::vector<std::shared_ptr<connection_pool>> nodes,
                                                    const key& name, const quorum_options& options) {
    auto complete = options;
    complete.label = label_or_default(options.label);
    auto kind = kind_of(require_different(nodes), complete);
    const auto limit = time_limit_of(options);
    auto queue = gate_of(*nodes.front(), name, kind);
    const auto needed = needed_of(options, nodes.size());
    return std::make_shared<const quorum_core>(quorum_core{.nodes = std::move(nodes),
                                                           .name = name,
                                                           .options = std::move(complete),
                                                           .rules = rules_of(options),
                                                           .time_limit = limit,
                                                           .needed = needed,
                                                           .fence_key = helper_key(name.bytes(), "fence"),
                                                           .kind = std::move(kind),
                                                           .queue = std::move(queue),
                                                           .fences = std::make_shared<fence_proposer>()});
}

}  // namespace tranca
