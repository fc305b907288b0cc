#include <tranca/cluster_endpoint.hpp>

#include <utility>

#include <fmt/format.h>

#include <tranca/error.hpp>
#include <tranca/key.hpp>

#include "url_text.hpp"

namespace tranca {

namespace {

constexpr std::string_view plain_cluster = "redis-cluster://";
constexpr std::string_view tls_cluster = "rediss-cluster://";

[[noreturn]] void refuse_cluster(std::string_view text) {
    throw error(errc::invalid_argument, fmt::format("cluster_endpoint: {}", text));
}

}  // namespace

bool cluster_endpoint::is_meant_by(std::string_view url) noexcept {
    return url.starts_with(plain_cluster) || url.starts_with(tls_cluster);
}

// Each seed is read as a server's URL would be, so that both know the same escapes, options and mistakes.
cluster_endpoint cluster_endpoint::parse(std::string_view url) {
    if (!is_meant_by(url)) refuse_url("it must begin with redis-cluster:// or rediss-cluster://");
    const bool tls = url.starts_with(tls_cluster);
    auto rest = url.substr(tls ? tls_cluster.size() : plain_cluster.size());
    auto authority = take_until(rest, "/?#");
    if (rest.find('@') != std::string_view::npos)
        refuse_url("an @ follows a / or ?: in a user or password, /, ?, # and @ must be written %2F, %3F, %23 and %40");
    const auto account_end = authority.rfind('@') + 1;  // 0: there is none
    const auto account = authority.substr(0, account_end);
    authority.remove_prefix(account_end);
    cluster_endpoint target;
    for (bool more = true; more;) {
        const auto host = take_until(authority, ",");
        more = !authority.empty();
        authority.remove_prefix(more ? 1 : 0);
        target.server = endpoint::parse(fmt::format("{}://{}{}{}", tls ? "rediss" : "redis", account, host, rest));
        target.seeds.push_back({target.server.host, target.server.port});
    }
    target.server.host.clear();
    target.validate();
    return target;
}

void cluster_endpoint::validate() const {
    if (seeds.empty()) refuse_cluster("there is no node to ask");
    if (server.kind == endpoint::transport::unix_socket) refuse_cluster("the nodes of a Cluster have no Unix sockets");
    if (server.database != 0) refuse_cluster("a Cluster has no database but 0");
    for (const auto& each : seeds)
        reach(each).validate();
}

endpoint cluster_endpoint::reach(const address& node) const {
    auto where = server;
    where.host = node.host;
    where.port = node.port;
    return where;
}

std::string cluster_endpoint::printable() const {
    std::string hosts;
    for (const auto& each : seeds)
        hosts.append(hosts.empty() ? "" : ",").append(tranca::printable(each));
    return fmt::format("{}{}{}", server.kind == endpoint::transport::tls ? tls_cluster : plain_cluster,
                       server.user.empty() ? "" : tranca::printable(server.user) + "@", hosts);
}

std::string printable(const cluster_endpoint::address& node) {
    const bool ipv6 = node.host.find(':') != std::string::npos;
    return fmt::format("{}:{}", ipv6 ? "[" + node.host + "]" : printable(node.host), node.port);
}

}  // namespace tranca
