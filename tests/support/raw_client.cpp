#include "support/raw_client.hpp"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <sstream>

#include "support/signals.hpp"

namespace tranca::testing {
namespace {

timeval to_timeval(std::chrono::milliseconds span) {
    return {.tv_sec = span.count() / 1000, .tv_usec = static_cast<suseconds_t>(span.count() % 1000 * 1000)};
}

redis_value::type kind_of(int type) {
    switch (type) {
    case REDIS_REPLY_NIL: return redis_value::type::nil;
    case REDIS_REPLY_INTEGER: return redis_value::type::integer;
    case REDIS_REPLY_STATUS: return redis_value::type::status;
    case REDIS_REPLY_ERROR: return redis_value::type::error;
    case REDIS_REPLY_ARRAY: return redis_value::type::array;
    default: return redis_value::type::string;
    }
}

redis_value convert(const redisReply& reply) {
    redis_value value;
    value.kind = kind_of(reply.type);
    switch (value.kind) {
    case redis_value::type::nil: break;
    case redis_value::type::integer: value.integer = reply.integer; break;
    case redis_value::type::array:
        for (std::size_t i = 0; i < reply.elements; ++i) {
            value.items.push_back(convert(*reply.element[i]));
        }
        break;
    default: value.text.assign(reply.str, static_cast<std::size_t>(reply.len));
    }
    return value;
}

std::string lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

// Calls visit(name, value) for each "name:value" line of INFO.
template <typename Visitor>
void each_field(const std::string& info, Visitor&& visit) {
    std::istringstream lines{info};
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) {
            continue;
        }
        if (line.back() == '\r') {
            line.pop_back();
        }
        visit(std::string_view{line}.substr(0, colon), std::string_view{line}.substr(colon + 1));
    }
}

std::int64_t number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::int64_t calls_of(std::string_view statistics) {  // "calls=3,usec=..."
    constexpr std::string_view label = "calls=";
    return statistics.starts_with(label) ? number(statistics.substr(label.size())) : 0;
}

}  // namespace

void raw_client::closer::operator()(redisContext* context) const noexcept {
    const signals_blocked quiet;
    ::redisFree(context);
}

raw_client::raw_client(address server, options settings) : server_{std::move(server)}, settings_{std::move(settings)} {
    reconnect();
}

raw_client::raw_client(raw_client&&) noexcept = default;
raw_client& raw_client::operator=(raw_client&&) noexcept = default;
raw_client::~raw_client() = default;

void raw_client::reconnect() {
    const signals_blocked quiet;
    const timeval limit = to_timeval(settings_.timeout);
    context_.reset();
    context_.reset(server_.kind == transport::tcp ? ::redisConnectWithTimeout(server_.host.c_str(), server_.port, limit)
                                                  : ::redisConnectUnixWithTimeout(server_.path.c_str(), limit));
    if (!context_ || context_->err != 0) {
        throw raw_error{"connect " + server_.text() + ": " + (context_ ? context_->errstr : "no memory")};
    }
    ::redisSetTimeout(context_.get(), limit);
    awaited_ = 0;
    introduce();
}

void raw_client::introduce() {
    const auto demand = [this](const command_text& words) {
        transmit(words);
        if (const auto answer = receive(); answer.is_error()) {
            throw raw_error{words.at(0) + ": " + answer.text};
        }
    };
    if (!settings_.user.empty()) {
        demand({"AUTH", settings_.user, settings_.password});
    } else if (!settings_.password.empty()) {
        demand({"AUTH", settings_.password});
    }
    if (settings_.database != 0) {
        demand({"SELECT", std::to_string(settings_.database)});
    }
    if (!settings_.name.empty()) {
        transmit({"CLIENT", "SETNAME", settings_.name});
        receive();  // an account without the right to do this goes unnamed
    }
}

bool raw_client::stale() const {
    if (context_->err != 0) {
        return true;
    }
    char byte = 0;
    const ssize_t got = ::recv(context_->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return awaited_ == 0 && (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR));
}

void raw_client::transmit(const command_text& words) {
    std::vector<const char*> data;
    std::vector<std::size_t> sizes;
    for (const auto& word : words) {
        data.push_back(word.data());
        sizes.push_back(word.size());
    }
    if (::redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), data.data(), sizes.data()) !=
        REDIS_OK) {
        throw raw_error{words.at(0) + ": " + context_->errstr};
    }
    ++awaited_;
    for (int done = 0; done == 0;) {
        if (::redisBufferWrite(context_.get(), &done) != REDIS_OK) {
            throw raw_error{words.at(0) + ": " + context_->errstr};
        }
    }
}

void raw_client::send(const command_text& words) {
    const signals_blocked quiet;
    if (stale()) {
        reconnect();
    }
    transmit(words);
}

redis_value raw_client::receive() {
    const signals_blocked quiet;
    void* answer = nullptr;
    if (::redisGetReply(context_.get(), &answer) != REDIS_OK) {
        throw raw_error{"reply of " + server_.text() + ": " + context_->errstr};
    }
    --awaited_;
    const std::unique_ptr<void, void (*)(void*)> owner{answer, ::freeReplyObject};
    return convert(*static_cast<const redisReply*>(answer));
}

redis_value raw_client::command(const command_text& words) {
    send(words);
    return receive();
}

redis_value raw_client::must(const command_text& words) {
    auto answer = command(words);
    if (answer.is_error()) {
        throw raw_error{words.at(0) + ": " + answer.text};
    }
    return answer;
}

std::optional<std::string> raw_client::get(std::string_view key) {
    auto answer = must({"GET", std::string{key}});
    return answer.is_nil() ? std::nullopt : std::optional{std::move(answer.text)};
}

void raw_client::set(std::string_view key, std::string_view value) {
    must({"SET", std::string{key}, std::string{value}});
}

void raw_client::set(std::string_view key, std::string_view value, std::chrono::milliseconds ttl) {
    must({"SET", std::string{key}, std::string{value}, "PX", std::to_string(ttl.count())});
}

std::int64_t raw_client::del(std::string_view key) { return must({"DEL", std::string{key}}).integer; }
std::int64_t raw_client::exists(std::string_view key) { return must({"EXISTS", std::string{key}}).integer; }
std::int64_t raw_client::pttl(std::string_view key) { return must({"PTTL", std::string{key}}).integer; }
std::int64_t raw_client::dbsize() { return must({"DBSIZE"}).integer; }
void raw_client::flush() { must({"FLUSHALL"}); }
std::int64_t raw_client::id() { return must({"CLIENT", "ID"}).integer; }

std::vector<std::string> raw_client::keys(std::string_view pattern) {
    std::vector<std::string> result;
    for (auto& item : must({"KEYS", std::string{pattern}}).items) {
        result.push_back(std::move(item.text));
    }
    std::ranges::sort(result);
    return result;
}

std::string raw_client::config_get(std::string_view name) {
    const auto answer = must({"CONFIG", "GET", std::string{name}});
    return answer.size() == 2 ? answer[1].text : std::string{};
}

void raw_client::config_set(std::string_view name, std::string_view value) {
    must({"CONFIG", "SET", std::string{name}, std::string{value}});
}

std::string raw_client::info(std::string_view field) {
    std::string result;
    each_field(must({"INFO", "ALL"}).text, [&](std::string_view name, std::string_view value) {
        if (name == field) {
            result = value;
        }
    });
    return result;
}

std::int64_t raw_client::calls(std::string_view command) { return calls_of(info("cmdstat_" + lower(command))); }

std::int64_t raw_client::calls() {
    std::int64_t sum = 0;
    each_field(must({"INFO", "COMMANDSTATS"}).text,
               [&](std::string_view, std::string_view value) { sum += calls_of(value); });
    return sum;
}

std::int64_t raw_client::connected_clients() { return number(info("connected_clients")); }
std::int64_t raw_client::connections_received() { return number(info("total_connections_received")); }
void raw_client::reset_stats() { must({"CONFIG", "RESETSTAT"}); }

std::string raw_client::local_address() const {
    if (server_.kind == transport::unix_socket) {
        return "unix:" + server_.path;
    }
    sockaddr_storage bytes{};
    socklen_t size = sizeof bytes;
    void* const place = &bytes;
    ::getsockname(context_->fd, static_cast<sockaddr*>(place), &size);
    std::array<char, INET6_ADDRSTRLEN> host{};
    if (bytes.ss_family == AF_INET6) {
        const auto* name = static_cast<const sockaddr_in6*>(place);
        ::inet_ntop(AF_INET6, &name->sin6_addr, host.data(), host.size());
        return std::string{"["} + host.data() + "]:" + std::to_string(ntohs(name->sin6_port));
    }
    const auto* name = static_cast<const sockaddr_in*>(place);
    ::inet_ntop(AF_INET, &name->sin_addr, host.data(), host.size());
    return std::string{host.data()} + ":" + std::to_string(ntohs(name->sin_port));
}

}  // namespace tranca::testing
