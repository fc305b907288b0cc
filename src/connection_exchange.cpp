// How a connection sends commands and receives their replies.
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <tranca/connection.hpp>
#include <tranca/error.hpp>

#include "connection_parts.hpp"
#include "exchange_hook.hpp"

namespace tranca {

namespace {

// A demoted or restarting server: the next command needs another connection, perhaps to another address.
bool ends_connection(errc code) noexcept {
    return code == errc::read_only || code == errc::loading || code == errc::master_down;
}

// Said by a server that hangs up without having read anything.
bool is_refusal(std::string_view text) noexcept {
    return text.starts_with("DENIED") || classify_error_reply(text) == errc::max_clients;
}

// What a test has a client hear instead of an answer.
std::variant<reply, stream_failure> kept_back() {
    return stream_failure{errc::connection_lost, "a test kept the answer back"};
}

}  // namespace

void connection::fail(const stream_failure& failure, const std::string& operation, effect outcome) {
    parts_->broken = true;
    throw error(failure.code, fmt::format("{} on {}: {}", operation, parts_->where.printable(), failure.reason),
                outcome);
}

void connection::refuse_to_work(const std::string& operation) const {
    if (parts_ && parts_->stream.inherited())
        throw error(errc::forked, operation + ": the connection belongs to the parent process");
    throw error(errc::connection_lost, operation + ": the connection failed before");
}

void connection::require_nothing_awaited(const request& commands) const {
    if (usable() && parts_->awaited > 0)
        throw error(errc::invalid_argument,
                    fmt::format("{}: {} replies to {} are still to be received", commands.describe(), parts_->awaited,
                                parts_->last_sent.describe()));
}

void connection::heed(exchange_hook& hook, const request& commands) {
    const auto decided = hook.before_send(*this, commands);
    if (decided == exchange_hook::fate::refused)
        throw error(errc::forked, commands.describe() + ": a test ended this client");
    parts_->unanswered = decided == exchange_hook::fate::unanswered;
}

connection::patience connection::send_request(const request& commands, std::optional<clock::time_point> deadline) {
    if (!usable()) refuse_to_work(commands.describe());
    auto* const hook = exchange_hook::installed();
    if (hook != nullptr) heed(*hook, commands);
    const auto until = deadline.value_or(deadline_after(parts_->where.command_timeout));
    std::size_t sent = 0;
    const auto failure = parts_->asks_first ? parts_->stream.send(commands.each_after(asking()).bytes(), until, sent)
                                            : parts_->stream.send(commands.bytes(), until, sent);
    if (!failure) {
        if (hook != nullptr) hook->after_send(*this);
        parts_->awaited += commands.size();
        return {until, !deadline && !parts_->stream.send_waited()};
    }
    // What a server says before it closes ("max number of clients reached") may still lie in the socket.
    auto farewell = parts_->stream.receive(clock::now(), false);
    if (const auto* const answer = std::get_if<reply>(&farewell); answer != nullptr && answer->is_error()) {
        parts_->broken = true;
        throw_if_error(*answer, commands, parts_->where);
    }
    // A single command that did not leave whole cannot have been run.
    fail(*failure, commands.describe(), sent > 0 && commands.size() > 1 ? effect::in_doubt : effect::none);
}

reply connection::receive_reply(const request* commands, std::size_t index, patience limit) {
    if (parts_->posted) {
        hear_posted(limit.until);
        if (parts_->broken)
            fail({errc::connection_lost, "no answer to what was sent before"},
                 commands != nullptr ? commands->describe(index) : parts_->last_sent.describe(), effect::in_doubt);
        limit.usual = false;
    }
    auto found = parts_->cut ? kept_back() : parts_->stream.receive(limit.until, limit.usual);
    // That to ASKING; if it was refused, so is what came after it.
    const bool is_permission = parts_->asks_first && !std::exchange(parts_->permitted, false);
    if (is_permission && std::holds_alternative<reply>(found)) found = parts_->stream.receive(limit.until, false);
    if (parts_->unanswered) found = kept_back();
    if (const auto* const failure = std::get_if<stream_failure>(&found))
        fail(*failure, commands != nullptr ? commands->describe(index) : parts_->last_sent.describe(),
             effect::in_doubt);
    if (parts_->awaited > 0) --parts_->awaited;
    auto& answer = std::get<reply>(found);
    if (answer.is_error()) retire_if_refused(answer, commands, index);
    return std::move(answer);
}

void connection::retire_if_refused(const reply_view& answer, const request* commands, std::size_t index) {
    const auto& here = parts_->where;
    if (auto elsewhere = redirection_in(answer.text(), {here.host, here.port}))
        parts_->redirected = std::move(*elsewhere);
    const bool refusal = is_refusal(answer.text());
    if (refusal || ends_connection(classify_error_reply(answer.text()))) parts_->retired = parts_->refused = true;
    if (refusal && commands != nullptr) throw_if_error(answer, *commands, parts_->where, index);
}

void connection::send(const request& commands, std::optional<clock::time_point> deadline) {
    send_request(commands, deadline);
    parts_->last_sent = commands;
}

reply connection::receive(std::optional<clock::time_point> deadline) {
    if (!parts_ || parts_->broken || parts_->stream.inherited())
        refuse_to_work(parts_ && parts_->last_sent.size() > 0 ? parts_->last_sent.describe() : "receiving");
    const auto until = deadline.value_or(deadline_after(parts_->where.command_timeout));
    return receive_reply(nullptr, 0, {until, !deadline});
}

}  // namespace tranca
