#include <tranca/connection.hpp>

#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <tranca/error.hpp>

#include "reply_stream.hpp"

namespace tranca {

namespace {

// Commands that set a connection up; sent again on every new one.
request handshake(const endpoint& where) {
    request commands;
    if (!where.password.empty() && where.user.empty()) commands.add("AUTH", where.password);
    if (!where.password.empty() && !where.user.empty()) commands.add("AUTH", where.user, where.password);
    if (where.database != 0) commands.add("SELECT", where.database);
    if (!where.client_name.empty()) commands.add("CLIENT", "SETNAME", where.client_name);
    return commands;
}

// A demoted or restarting server: the next command needs another connection, perhaps to another address.
bool ends_connection(errc code) noexcept {
    return code == errc::read_only || code == errc::loading || code == errc::master_down;
}

// Said by a server that hangs up without having read anything.
bool is_refusal(std::string_view text) noexcept {
    return text.starts_with("DENIED") || classify_error_reply(text) == errc::max_clients;
}

// The server repeats arguments in some error texts, and one of them may be a password or a token.
std::string_view without_arguments(std::string_view text) {
    return text.substr(0, text.find(", with args beginning with"));
}

}  // namespace

struct connection::parts {
    parts(const endpoint& where_, clock::time_point deadline) : where(where_), stream(where, deadline) {}

    [[nodiscard]] clock::time_point usual_deadline() const { return deadline_after(where.command_timeout); }

    endpoint where;
    reply_stream stream;
    bool poisoned = false;
    std::string last_operation;  // of a send() whose replies are still to come, for error texts
};

connection::connection(const endpoint& where, clock::time_point deadline)
    : parts_(std::make_unique<parts>(where, deadline)) {}

connection::connection(const endpoint& where) : connection(where, deadline_after(where.connect_timeout)) {
    const auto commands = handshake(where);
    if (commands.size() == 0) return;
    const auto answers = pipeline(commands, deadline_after(where.connect_timeout));
    for (const auto& answer : answers) {
        // A name is a convenience: an account that may not use CLIENT works without.
        const bool of_name = !where.client_name.empty() && &answer == &answers.back();
        if (of_name && answer.is_error() && classify_error_reply(answer.text()) == errc::no_permission) continue;
        throw_if_error(answer, commands, where);
    }
}

connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&&) noexcept = default;
connection::~connection() = default;

bool connection::usable() const noexcept { return parts_ && !parts_->poisoned && !parts_->stream.inherited(); }

bool connection::stale() const noexcept { return !usable() || parts_->stream.readable_or_closed(); }

void connection::retire() noexcept { parts_->poisoned = true; }

const endpoint& connection::where() const noexcept { return parts_->where; }

void connection::fail(const stream_failure& failure, const std::string& operation, effect outcome) {
    parts_->poisoned = true;
    throw error(failure.code, fmt::format("{} on {}: {}", operation, parts_->where.printable(), failure.reason),
                outcome);
}

void connection::send_request(const request& commands, clock::time_point deadline) {
    if (parts_ && parts_->stream.inherited())
        throw error(errc::forked, commands.describe() + ": the connection belongs to the parent process");
    if (!usable()) throw error(errc::connection_lost, commands.describe() + ": the connection failed before");
    std::size_t sent = 0;
    const auto failure = parts_->stream.send(commands.bytes(), deadline, sent);
    if (!failure) return;
    // What a server says before it closes ("max number of clients reached") may still lie in the socket.
    auto farewell = parts_->stream.receive(clock::now(), false);
    if (const auto* const answer = std::get_if<reply>(&farewell); answer != nullptr && answer->is_error()) {
        parts_->poisoned = true;
        throw_if_error(*answer, commands, parts_->where);
    }
    // A single command that did not leave whole cannot have been run.
    fail(*failure, commands.describe(), sent > 0 && commands.size() > 1 ? effect::in_doubt : effect::none);
}

reply connection::receive_reply(const request* commands, std::optional<clock::time_point> deadline) {
    auto found = parts_->stream.receive(deadline.value_or(parts_->usual_deadline()), !deadline);
    if (const auto* const failure = std::get_if<stream_failure>(&found))
        fail(*failure, commands != nullptr ? commands->describe() : parts_->last_operation, effect::in_doubt);
    auto& answer = std::get<reply>(found);
    if (answer.is_error()) retire_if_refused(answer, commands);
    return std::move(answer);
}

void connection::retire_if_refused(const reply_view& answer, const request* commands) {
    const bool refusal = is_refusal(answer.text());
    if (refusal || ends_connection(classify_error_reply(answer.text()))) parts_->poisoned = true;
    if (refusal && commands != nullptr) throw_if_error(answer, *commands, parts_->where);
}

reply connection::exchange(const request& command, std::optional<clock::time_point> deadline) {
    send_request(command, deadline.value_or(parts_->usual_deadline()));
    return receive_reply(&command, deadline);
}

reply connection::command(const request& command, std::optional<clock::time_point> deadline) {
    auto answer = exchange(command, deadline);
    throw_if_error(answer, command, parts_->where);
    return answer;
}

std::vector<reply> connection::pipeline(const request& commands, std::optional<clock::time_point> deadline) {
    const auto until = deadline.value_or(parts_->usual_deadline());
    send_request(commands, until);
    std::vector<reply> answers;
    answers.reserve(commands.size());
    // The first wait may use the kernel's timer; later ones go by what is left of the time.
    answers.push_back(receive_reply(&commands, deadline));
    while (answers.size() < commands.size())
        answers.push_back(receive_reply(&commands, until));
    return answers;
}

reply connection::transaction(const request& commands, std::optional<clock::time_point> deadline) {
    request whole{"MULTI"};
    whole.add_request(commands).add("EXEC");
    auto answers = pipeline(whole, deadline);
    // A command refused while queueing says why; EXEC then only says that it gave up.
    for (const auto& answer : answers)
        throw_if_error(answer, whole, parts_->where);
    auto results = std::move(answers.back());
    if (results.is_nil()) return results;
    for (std::size_t i = 0; i < results.size(); ++i)
        throw_if_error(results[i], whole, parts_->where);
    return results;
}

void connection::send(const request& commands, std::optional<clock::time_point> deadline) {
    send_request(commands, deadline.value_or(parts_->usual_deadline()));
    parts_->last_operation = commands.describe();
}

reply connection::receive(std::optional<clock::time_point> deadline) { return receive_reply(nullptr, deadline); }

std::optional<reply> connection::send_last_word(const endpoint& where, const request& last,
                                                milliseconds budget) noexcept {
    try {
        const auto deadline = deadline_after(budget);
        connection fresh{where, deadline};
        request everything = handshake(where);
        everything.add_request(last);
        auto answers = fresh.pipeline(everything, deadline);
        return std::move(answers.back());
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void throw_if_error(const reply_view& answer, const request& command, const endpoint& where) {
    if (!answer.is_error()) return;
    const auto text = without_arguments(answer.text());
    throw error(classify_error_reply(text), fmt::format("{} on {}: {}", command.describe(), where.printable(), text));
}

}  // namespace tranca
