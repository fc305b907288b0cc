#include "server/target.hpp"

#include <cstdlib>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "raw/wire.hpp"

namespace tranca::bench {
namespace {

std::string fresh_prefix() {
    std::random_device random;
    return fmt::format("tranca-bench:{:08x}{:08x}:", random(), random());
}

std::string server_version(const endpoint& where) {
    const auto info = std::string(wire(where).ask("INFO", "server").text());
    constexpr std::string_view label = "redis_version:";
    const auto begin = info.find(label);
    if (begin == std::string::npos) return "unknown";
    return info.substr(begin + label.size(), info.find('\r', begin) - begin - label.size());
}

route route_to(const std::string& url) {
    auto where = endpoint::parse(url);
    if (where.kind == endpoint::transport::tls) {
        throw std::runtime_error("REDIS_URL: the benchmark speaks no TLS; give a redis:// or unix:// URL");
    }
    return {where.kind == endpoint::transport::unix_socket ? "unix" : "tcp", where};
}

}  // namespace

target target::choose() {
    target chosen;
    const char* url = std::getenv("REDIS_URL");
    if (url != nullptr && *url != '\0') {
        chosen.routes_ = {route_to(url)};
        chosen.prefix_ = fresh_prefix();
    } else {
        chosen.server_ = std::make_unique<private_server>();
        chosen.routes_ = {{"unix", chosen.server_->over_unix()}, {"tcp", chosen.server_->over_tcp()}};
    }
    chosen.version_ = server_version(chosen.usual_route().where);
    return chosen;
}

void target::pin_server(const cores& where) const noexcept {
    if (server_) pin(server_->pid(), where);
}

void target::check_alive() const {
    if (server_ && !server_->alive()) throw std::runtime_error("the private redis-server has ended unexpectedly");
}

std::string target::description() const {
    if (!server_) {
        return fmt::format("Redis {} at {} (REDIS_URL), all keys under {}*", version_, usual_route().where.printable(),
                           prefix_);
    }
    return fmt::format("Redis {}, private, on a Unix socket and loopback TCP", version_);
}

}  // namespace tranca::bench
