#include "reply_stream.hpp"

#include <array>
#include <cstring>
#include <new>

#include "reader_bounds.hpp"

namespace tranca {

namespace {

hiredis_context context_for(const stream_socket& line) {
    hiredis_context context{::redisConnectFd(line.descriptor())};
    if (!context) throw std::bad_alloc{};
    set_bounds(*context->reader);
    return context;
}

}  // namespace

reply_stream::reply_stream(const endpoint& where, clock::time_point deadline)
    : line_(stream_socket::connect(where, deadline)), context_(context_for(line_)) {
    line_.set_patience(where.command_timeout);
    if (where.kind == endpoint::transport::tls) tls_.emplace(*context_, line_, where, deadline);
}

std::optional<stream_failure> reply_stream::send(std::string_view bytes, clock::time_point deadline,
                                                 std::size_t& sent) {
    const auto outcome = tls_ ? tls_->send_all(bytes, deadline, sent) : line_.send_all(bytes, deadline, sent);
    switch (outcome) {
    case socket_outcome::done: return std::nullopt;
    case socket_outcome::timed_out: return stream_failure{errc::timeout, "the server takes no more bytes"};
    case socket_outcome::closed: break;
    }
    return stream_failure{errc::connection_lost, why_closed()};
}

std::variant<reply, stream_failure> reply_stream::receive(clock::time_point deadline, bool usual_deadline) {
    for (;;) {
        auto parsed = parse();
        if (auto* const found = std::get_if<reply>(&parsed)) return std::move(*found);
        if (auto* const failure = std::get_if<stream_failure>(&parsed)) return std::move(*failure);
        switch (read_more(deadline, usual_deadline)) {
        case socket_outcome::done: break;
        case socket_outcome::timed_out: return stream_failure{errc::timeout, "no answer in time"};
        case socket_outcome::closed: return stream_failure{errc::connection_lost, why_closed()};
        }
        usual_deadline = false;  // some of the time is gone
    }
}

std::variant<std::monostate, reply, stream_failure> reply_stream::parse() {
    for (;;) {
        void* found = nullptr;
        if (::redisReaderGetReply(context_->reader, &found) != REDIS_OK)
            return stream_failure{errc::protocol, std::string{"not a Redis reply: "} + context_->reader->errstr};
        if (found == nullptr) return std::monostate{};
        auto* const raw = static_cast<redisReply*>(found);
        reply whole{raw};
#ifdef REDIS_REPLY_PUSH
        if (raw->type == REDIS_REPLY_PUSH) continue;  // a message between the replies; nobody here asked for any
#endif
        return whole;
    }
}

socket_outcome reply_stream::read_more(clock::time_point deadline, bool usual_deadline) {
    if (tls_) return tls_->receive(deadline);
    std::array<char, 16 * 1024> buffer;
    std::size_t received = 0;
    const auto outcome = line_.receive(buffer, deadline, usual_deadline, received);
    if (outcome == socket_outcome::done && ::redisReaderFeed(context_->reader, buffer.data(), received) != REDIS_OK)
        throw std::bad_alloc{};
    return outcome;
}

std::string reply_stream::why_closed() const {
    if (tls_) return tls_->last_failure();
    return line_.last_errno() == 0 ? "the server closed the connection" : std::strerror(line_.last_errno());
}

}  // namespace tranca
