#include "raw/wire.hpp"

#include <sys/time.h>

#include <csignal>
#include <stdexcept>

#include <fmt/format.h>

namespace tranca::bench {
namespace {

// Long enough for any command here, short enough to end a run whose server has died.
constexpr timeval time_limit{30, 0};

redisContext* open(const endpoint& where) {
    if (where.kind == endpoint::transport::tls) throw std::runtime_error("the benchmark speaks no TLS");
    return where.kind == endpoint::transport::unix_socket
               ? redisConnectUnixWithTimeout(where.path.c_str(), time_limit)
               : redisConnectWithTimeout(where.host.c_str(), where.port, time_limit);
}

}  // namespace

wire::wire(const endpoint& where) : context_(open(where)) {
    // hiredis writes to a connection the server has closed: that is to be an error, not the end of the process.
    std::signal(SIGPIPE, SIG_IGN);
    if (!context_ || context_->err != 0) {
        throw std::runtime_error(
            fmt::format("cannot connect to {}: {}", where.printable(), context_ ? context_->errstr : "out of memory"));
    }
    redisSetTimeout(context_.get(), time_limit);
    if (!where.password.empty()) {
        where.user.empty() ? ask("AUTH", where.password) : ask("AUTH", where.user, where.password);
    }
    if (where.database != 0) ask("SELECT", where.database);
}

void wire::append(const request& commands) {
    const auto bytes = commands.bytes();
    redisAppendFormattedCommand(context_.get(), bytes.data(), bytes.size());
}

answer wire::next() {
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK) {
        throw std::runtime_error(fmt::format("Redis connection lost: {}", context_->errstr));
    }
    auto* raw = static_cast<redisReply*>(reply);
    answer result(raw);
    if (raw->type == REDIS_REPLY_ERROR) throw std::runtime_error(fmt::format("Redis says: {}", result.text()));
    return result;
}

}  // namespace tranca::bench
