#pragma once

// One hiredis connection, used by hand: what the benchmark's own commands go through, and what the library is measured
// against. Of the library it uses no more than the words for a server and for a command.
//
//     wire redis(where);
//     redis.ask("SET", "name", 7).integer();
//     redis.send("ZCARD", "market:");                 // a pipeline: send, send, next, next
//     redis.send("ZRANGE", "market:", 0, 0);
//     const auto count = redis.next().integer();
//
// Every failure - of the socket or an error reply - throws std::runtime_error: in a benchmark none is expected.
// Not thread-safe. No TLS.

#include <hiredis/hiredis.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include <tranca/endpoint.hpp>
#include <tranca/request.hpp>

namespace tranca::bench {

class answer {
public:
    explicit answer(redisReply* reply) noexcept : reply_(reply) {}

    [[nodiscard]] bool is_nil() const noexcept { return reply_->type == REDIS_REPLY_NIL; }
    [[nodiscard]] long long integer() const noexcept { return reply_->integer; }
    [[nodiscard]] std::string_view text() const noexcept { return text_of(*reply_); }
    [[nodiscard]] std::size_t size() const noexcept { return reply_->elements; }
    /// Of an array: its i-th element.
    [[nodiscard]] std::string_view text(std::size_t i) const noexcept { return text_of(*reply_->element[i]); }
    [[nodiscard]] long long integer(std::size_t i) const noexcept { return reply_->element[i]->integer; }

private:
    static std::string_view text_of(const redisReply& reply) noexcept { return {reply.str, reply.len}; }

    struct release {
        void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
    };
    std::unique_ptr<redisReply, release> reply_;
};

class wire {
public:
    explicit wire(const endpoint& where);

    /// One command, one round trip.
    template <class... Words>
    answer ask(const Words&... words) {
        send(words...);
        return next();
    }

    /// Writes into the output buffer only; the next call of next() flushes it.
    template <class... Words>
    void send(const Words&... words) {
        append(request{words...});
    }
    void append(const request& commands);

    /// The reply to the oldest command that has not been answered.
    answer next();

    [[nodiscard]] redisContext* context() const noexcept { return context_.get(); }

private:
    struct release {
        void operator()(redisContext* context) const noexcept { redisFree(context); }
    };
    std::unique_ptr<redisContext, release> context_;
};

}  // namespace tranca::bench
