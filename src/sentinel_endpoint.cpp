#include <tranca/sentinel_endpoint.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tranca/error.hpp>
#include <tranca/key.hpp>

#include "url_text.hpp"

namespace tranca {

namespace {

constexpr std::string_view plain_scheme = "redis-sentinel://";
constexpr std::string_view tls_scheme = "rediss-sentinel://";
constexpr std::string_view usual_port = ":26379";
constexpr std::size_t longest_printed_name = 100;

bool has_port(std::string_view host) {
    return host.starts_with('[') ? !host.ends_with(']') : host.find(':') != std::string_view::npos;
}

// "/name/5" -> the name; what is left is "/5".
std::string_view take_name(std::string_view& path) {
    if (path.empty()) return {};
    path.remove_prefix(1);
    return take_until(path, "/");
}

// Takes those of ours and returns the others.
std::string apply_own_options(sentinel_endpoint& target, std::string_view query) {
    std::string others;
    while (!query.empty()) {
        const auto item = take_until(query, "&");
        query.remove_prefix(std::min<std::size_t>(1, query.size()));
        const auto name = item.substr(0, item.find('='));
        const auto value = name.size() < item.size() ? item.substr(name.size() + 1) : std::string_view{};
        if (name == "sentinel_user") target.user = percent_decoded(value, "options");
        else if (name == "sentinel_password") target.password = percent_decoded(value, "options");
        else if (name == "sentinel_timeout") target.sentinel_timeout = duration_with_unit(value, name);
        else if (name == "check_every") target.check_every = duration_with_unit(value == "0" ? "0ms" : value, name);
        else others.append(others.empty() ? "?" : "&").append(item);
    }
    return others;
}

[[noreturn]] void refuse_sentinels(std::string_view text) {
    throw error(errc::invalid_argument, fmt::format("sentinel_endpoint: {}", text));
}

std::string text_of(const sentinel_endpoint::address& sentinel) {
    const bool ipv6 = sentinel.host.find(':') != std::string::npos;
    return fmt::format("{}:{}", ipv6 ? "[" + sentinel.host + "]" : sentinel.host, sentinel.port);
}

}  // namespace

bool sentinel_endpoint::is_meant_by(std::string_view url) noexcept {
    return url.starts_with(plain_scheme) || url.starts_with(tls_scheme);
}

// Each sentinel is read as the server's URL would be, so that both know the same escapes, options and mistakes.
sentinel_endpoint sentinel_endpoint::parse(std::string_view url) {
    if (!is_meant_by(url)) refuse_url("it must begin with redis-sentinel:// or rediss-sentinel://");
    const bool tls = url.starts_with(tls_scheme);
    auto rest = url.substr(tls ? tls_scheme.size() : plain_scheme.size());
    auto authority = take_until(rest, "/?#");
    if (rest.find('@') != std::string_view::npos)
        refuse_url("an @ follows a / or ?: in a user or password, /, ?, # and @ must be written %2F, %3F, %23 and %40");
    auto path = take_until(rest, "?#");
    const auto account_end = authority.rfind('@') + 1;  // 0: there is none
    const auto account = authority.substr(0, account_end);
    sentinel_endpoint target;
    target.master_name = percent_decoded(take_name(path), "name of the master");
    if (rest.find('#') != std::string_view::npos) refuse_url("it has a #, which must be written %23");
    const auto options = apply_own_options(target, rest.empty() ? rest : rest.substr(1));
    authority.remove_prefix(account_end);
    for (bool more = true; more;) {
        const auto host = take_until(authority, ",");
        more = !authority.empty();
        authority.remove_prefix(more ? 1 : 0);
        target.server = endpoint::parse(fmt::format("{}://{}{}{}{}{}", tls ? "rediss" : "redis", account, host,
                                                    has_port(host) ? "" : usual_port, path, options));
        target.sentinels.push_back({target.server.host, target.server.port});
    }
    target.server.host.clear();
    target.validate();
    return target;
}

void sentinel_endpoint::validate() const {
    if (sentinels.empty()) refuse_sentinels("there is no sentinel");
    if (master_name.empty()) refuse_sentinels("there is no name of a master, as in redis-sentinel://host/mymaster");
    if (server.kind == endpoint::transport::unix_socket) refuse_sentinels("sentinels name no Unix sockets");
    require_positive(sentinel_timeout, "sentinel_timeout");
    require_not_negative(check_every, "check_every");
    for (const auto& each : sentinels)
        reach(each).validate();
    server_at("host", 1).validate();
}

endpoint sentinel_endpoint::reach(const address& sentinel) const {
    endpoint where;
    where.kind = server.kind;
    where.host = sentinel.host;
    where.port = sentinel.port;
    where.user = user;
    where.password = password;
    where.connect_timeout = sentinel_timeout;
    where.command_timeout = sentinel_timeout;
    where.tls = server.tls;
    return where;
}

endpoint sentinel_endpoint::server_at(std::string host, std::uint16_t port) const {
    auto where = server;
    where.host = std::move(host);
    where.port = port;
    return where;
}

std::string sentinel_endpoint::printable() const {
    std::string hosts;
    for (const auto& each : sentinels)
        hosts.append(hosts.empty() ? "" : ",").append(text_of(each));
    return fmt::format("{}{}{}/{}{}", server.kind == endpoint::transport::tls ? tls_scheme : plain_scheme,
                       server.user.empty() ? "" : tranca::printable(server.user) + "@", hosts,
                       tranca::printable(master_name, longest_printed_name),
                       server.database == 0 ? "" : fmt::format("/{}", server.database));
}

}  // namespace tranca
