#include <tranca/endpoint.hpp>

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <tranca/error.hpp>
#include <tranca/key.hpp>

#include "url_text.hpp"

namespace tranca {

namespace {

int database_number(std::string_view text) {
    const auto number = whole_number<int>(text);
    if (!number || *number < 0) refuse_url("the database is not a number from 0 on");
    return *number;
}

bool yes_or_no(std::string_view text, std::string_view option) {
    if (text != "yes" && text != "no") refuse_url(fmt::format("{} must be yes or no", option));
    return text == "yes";
}

bool apply_tls_option(tls_options& tls, std::string_view name, const std::string& value) {
    if (name == "ca_file") tls.ca_file = value;
    else if (name == "ca_directory") tls.ca_directory = value;
    else if (name == "certificate") tls.certificate = value;
    else if (name == "private_key") tls.private_key = value;
    else if (name == "server_name") tls.server_name = value;
    else if (name == "verify") tls.verify = yes_or_no(value, name);
    else return false;
    return true;
}

void apply_option(endpoint& target, std::string_view name, const std::string& value) {
    if (name == "db") target.database = database_number(value);
    else if (name == "connect_timeout") target.connect_timeout = duration_with_unit(value, name);
    else if (name == "command_timeout") target.command_timeout = duration_with_unit(value, name);
    else if (name == "client_name") target.client_name = value;
    else if (!apply_tls_option(target.tls, name, value))
        refuse_url(fmt::format(
            "there is no option \"{}\"; there are db, connect_timeout, command_timeout, client_name, ca_file, "
            "ca_directory, certificate, private_key, server_name, verify",
            printable(name, 30)));
    else if (target.kind != endpoint::transport::tls) refuse_url(fmt::format("the option {} needs rediss://", name));
}

void apply_query(endpoint& target, std::string_view query) {
    while (!query.empty()) {
        const auto item = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(item.size() + 1, query.size()));
        if (item.empty()) continue;
        const auto equals = item.find('=');
        if (equals == std::string_view::npos) refuse_url("an option has no value (name=value)");
        apply_option(target, item.substr(0, equals), percent_decoded(item.substr(equals + 1), "options"));
    }
}

void apply_account(endpoint& target, std::string_view account) {
    const auto colon = account.find(':');
    target.user = percent_decoded(account.substr(0, colon), "user");
    if (colon != std::string_view::npos) target.password = percent_decoded(account.substr(colon + 1), "password");
    if (!target.user.empty() && target.password.empty()) refuse_url("there is a user but no password");
}

// With or without a zone, as in fe80::1%eth0.
bool is_ipv6(const std::string& text) {
    in6_addr ignored{};
    return ::inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &ignored) == 1;
}

void apply_host(endpoint& target, std::string_view host_and_port) {
    std::string_view port;
    if (host_and_port.starts_with('[')) {
        const auto close = host_and_port.find(']');
        if (close == std::string_view::npos) refuse_url("the [ of an IPv6 address is not closed");
        target.host = percent_decoded(host_and_port.substr(1, close - 1), "host");
        if (!target.host.empty() && !is_ipv6(target.host)) refuse_url("what stands in [ ] is not an IPv6 address");
        port = host_and_port.substr(close + 1);
        if (!port.empty() && !port.starts_with(':')) refuse_url("something other than a port follows the ]");
    } else {
        const auto colon = host_and_port.find(':');
        target.host = percent_decoded(host_and_port.substr(0, colon), "host");
        if (colon != std::string_view::npos) port = host_and_port.substr(colon);
        if (port.find(':', 1) != std::string_view::npos) refuse_url("an IPv6 address must stand in [ ]");
    }
    if (target.host.empty()) refuse_url("there is no host");
    if (port.empty()) return;
    const auto number = whole_number<std::uint16_t>(port.substr(1));
    if (!number || *number == 0) refuse_url("the port is not a number from 1 to 65535");
    target.port = *number;
}

endpoint::transport transport_of(std::string_view scheme) {
    if (scheme == "redis") return endpoint::transport::tcp;
    if (scheme == "rediss") return endpoint::transport::tls;
    if (scheme == "unix") return endpoint::transport::unix_socket;
    refuse_url("it must begin with redis://, rediss:// or unix://");
}

void apply_path(endpoint& target, std::string_view path) {
    if (target.kind == endpoint::transport::unix_socket) target.path = percent_decoded(path, "path");
    else if (path.size() > 1) target.database = database_number(path.substr(1));
}

// "user:password@host:port" and what follows it.
struct url_parts {
    std::string_view account;
    bool has_account = false;
    std::string_view host_and_port;
    std::string_view path;
    std::string_view query;
};

url_parts split(std::string_view rest) {
    url_parts parts;
    const auto authority = rest.substr(0, rest.find_first_of("/?#"));
    rest.remove_prefix(authority.size());
    const auto at = authority.rfind('@');
    if (at != std::string_view::npos) {
        parts.has_account = true;
        parts.account = authority.substr(0, at);
    } else if (rest.find('@') != std::string_view::npos) {
        refuse_url(
            "an @ follows a /, ? or #: those must be written %2F, %3F and %23 in a user or password (and @ as %40)");
    }
    parts.host_and_port = at == std::string_view::npos ? authority : authority.substr(at + 1);
    if (rest.find('#') != std::string_view::npos) refuse_url("it has a #, which must be written %23");
    const auto question = rest.find('?');
    parts.path = rest.substr(0, question);
    if (question != std::string_view::npos) parts.query = rest.substr(question + 1);
    return parts;
}

bool has_control_or_blank(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; });
}

[[noreturn]] void refuse_member(std::string_view text) {
    throw error(errc::invalid_argument, fmt::format("endpoint: {}", text));
}

}  // namespace

endpoint endpoint::parse(std::string_view url) {
    const auto colon = url.find("://");
    if (colon == std::string_view::npos) refuse_url("it must begin with redis://, rediss:// or unix://");
    endpoint target;
    target.kind = transport_of(url.substr(0, colon));
    const auto parts = split(url.substr(colon + 3));
    if (parts.has_account) apply_account(target, parts.account);
    if (target.kind == transport::unix_socket) {
        if (!parts.host_and_port.empty())
            refuse_url("unix:// is followed by the path of a socket, as in unix:///run/redis.sock");
    } else {
        apply_host(target, parts.host_and_port);
    }
    apply_path(target, parts.path);
    apply_query(target, parts.query);
    target.validate();
    return target;
}

void endpoint::validate() const {
    require_positive(connect_timeout, "connect_timeout");
    require_positive(command_timeout, "command_timeout");
    if (database < 0) refuse_member(fmt::format("the database ({}) must not be negative", database));
    if (!user.empty() && password.empty()) refuse_member("there is a user but no password");
    if (has_control_or_blank(client_name)) refuse_member("client_name must be printable ASCII without blanks");
    if (kind == transport::unix_socket) {
        if (path.empty()) refuse_member("a Unix socket needs a path");
        if (path.find('\0') != std::string::npos) refuse_member("the path of the socket holds a NUL byte");
        if (path.size() >= sizeof(sockaddr_un::sun_path)) refuse_member("the path of the socket is too long");
        return;
    }
    if (host.empty() || has_control_or_blank(host)) refuse_member("the host must be a name or an address");
    if (port == 0) refuse_member("the port must not be 0");
    if (tls.certificate.empty() != tls.private_key.empty())
        refuse_member("certificate and private_key go together: one of them is missing");
}

std::string endpoint::printable() const {
    const auto account = user.empty() ? std::string{} : tranca::printable(user) + "@";
    const auto in_database = database == 0 ? std::string{} : fmt::format("{}", database);
    if (kind == transport::unix_socket)
        return fmt::format("unix://{}{}{}", account, tranca::printable(path, 4 * sizeof(sockaddr_un::sun_path)),
                           database == 0 ? "" : "?db=" + in_database);
    const bool ipv6 = host.find(':') != std::string::npos;
    return fmt::format("{}://{}{}:{}{}", kind == transport::tls ? "rediss" : "redis", account,
                       ipv6 ? "[" + host + "]" : host, port, database == 0 ? "" : "/" + in_database);
}

}  // namespace tranca
