#include <tranca/connection.hpp>

#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <tranca/error.hpp>

#include "ready.hpp"
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

// A server's own words are shorter.
constexpr std::size_t longest_server_text = 500;

}  // namespace

struct connection::parts {
    parts(const endpoint& where_, clock::time_point deadline)
        : where(where_), connect_deadline(deadline), stream(where, deadline) {}

    endpoint where;
    clock::time_point connect_deadline;
    reply_stream stream;
    bool broken = false;         // nothing more can come, or what comes is not to be trusted
    bool retired = false;        // nothing more is to be sent
    std::size_t awaited = 0;     // replies
    std::string last_operation;  // of a send() whose replies are still to come, for error texts
    hearer posted;               // its answer comes before any other
    std::optional<std::int64_t> id;
    std::optional<server_features> features;
    std::string address;
};

connection::connection(const endpoint& where, clock::time_point deadline)
    : parts_(std::make_unique<parts>(where, deadline)) {}

connection::connection(const endpoint& where) : connection(where, deadline_after(where.connect_timeout)) {
    const auto commands = handshake(where);
    const auto answers = pipeline(commands, parts_->connect_deadline);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        // A name is a convenience: an account that may not use CLIENT works without.
        const bool of_name = !where.client_name.empty() && i + 1 == answers.size();
        if (of_name && answers[i].is_error() && classify_error_reply(answers[i].text()) == errc::no_permission)
            continue;
        throw_if_error(answers[i], commands, where, i);
    }
}

connection::connection(connection&&) noexcept = default;
connection& connection::operator=(connection&& other) noexcept {
    connection replaced{std::move(*this)};
    parts_ = std::move(other.parts_);
    return *this;
}

connection::~connection() {
    if (parts_ && parts_->posted) hear_posted(deadline_after(parts_->where.command_timeout));
}

bool connection::usable() const noexcept {
    return parts_ && !parts_->broken && !parts_->retired && !parts_->stream.inherited();
}

bool connection::stale() const noexcept {
    // Where an answer is due, there is no telling it from a farewell; the next use finds out.
    return !usable() || parts_->awaited > 0 || (!parts_->posted && parts_->stream.readable_or_closed());
}

std::size_t connection::awaited() const noexcept { return parts_ ? parts_->awaited : 0; }

void connection::retire() noexcept {
    if (parts_) parts_->retired = true;
}

const endpoint& connection::where() const noexcept { return parts_->where; }

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
        throw error(errc::invalid_argument, fmt::format("{}: {} replies to {} are still to be received",
                                                        commands.describe(), parts_->awaited, parts_->last_operation));
}

connection::patience connection::send_request(const request& commands, std::optional<clock::time_point> deadline) {
    if (!usable()) refuse_to_work(commands.describe());
    const auto until = deadline.value_or(deadline_after(parts_->where.command_timeout));
    std::size_t sent = 0;
    const auto failure = parts_->stream.send(commands.bytes(), until, sent);
    if (!failure) {
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
                 commands != nullptr ? commands->describe(index) : parts_->last_operation, effect::in_doubt);
        limit.usual = false;
    }
    auto found = parts_->stream.receive(limit.until, limit.usual);
    if (const auto* const failure = std::get_if<stream_failure>(&found))
        fail(*failure, commands != nullptr ? commands->describe(index) : parts_->last_operation, effect::in_doubt);
    if (parts_->awaited > 0) --parts_->awaited;
    auto& answer = std::get<reply>(found);
    if (answer.is_error()) retire_if_refused(answer, commands, index);
    return std::move(answer);
}

void connection::retire_if_refused(const reply_view& answer, const request* commands, std::size_t index) {
    const bool refusal = is_refusal(answer.text());
    if (refusal || ends_connection(classify_error_reply(answer.text()))) parts_->retired = true;
    if (refusal && commands != nullptr) throw_if_error(answer, *commands, parts_->where, index);
}

reply connection::exchange(const request& command, std::optional<clock::time_point> deadline) {
    if (command.size() != 1)
        throw error(errc::invalid_argument,
                    fmt::format("{}: one command is expected here, not {}", command.describe(), command.size()));
    require_nothing_awaited(command);
    const auto limit = send_request(command, deadline);
    return receive_reply(&command, 0, limit);
}

reply connection::command(const request& command, std::optional<clock::time_point> deadline) {
    auto answer = exchange(command, deadline);
    throw_if_error(answer, command, parts_->where);
    return answer;
}

std::vector<reply> connection::pipeline(const request& commands, std::optional<clock::time_point> deadline) {
    std::vector<reply> answers;
    if (commands.size() == 0) return answers;
    require_nothing_awaited(commands);
    answers.reserve(commands.size());
    auto limit = send_request(commands, deadline);
    while (answers.size() < commands.size()) {
        answers.push_back(receive_reply(&commands, answers.size(), limit));
        limit.usual = false;  // some of the time is gone
    }
    return answers;
}

reply connection::transaction(const request& commands, std::optional<clock::time_point> deadline) {
    request whole{"MULTI"};
    whole.add_request(commands).add("EXEC");
    auto answers = pipeline(whole, deadline);
    // A command refused while queueing says why; EXEC then only says that it gave up.
    for (std::size_t i = 0; i < answers.size(); ++i)
        throw_if_error(answers[i], whole, parts_->where, i);
    auto results = std::move(answers.back());
    if (results.is_nil()) return results;
    for (std::size_t i = 0; i < results.size(); ++i)
        throw_if_error(results[i], commands, parts_->where, i);
    return results;
}

void connection::send(const request& commands, std::optional<clock::time_point> deadline) {
    send_request(commands, deadline);
    parts_->last_operation = commands.describe();
}

reply connection::receive(std::optional<clock::time_point> deadline) {
    if (!parts_ || parts_->broken || parts_->stream.inherited())
        refuse_to_work(parts_ && !parts_->last_operation.empty() ? parts_->last_operation : "receiving");
    const auto until = deadline.value_or(deadline_after(parts_->where.command_timeout));
    return receive_reply(nullptr, 0, {until, !deadline});
}

arrival connection::await_reply(clock::time_point deadline, const interrupt& cut) const noexcept {
    if (parts_->stream.has_bytes()) return arrival::ready;
    if (!wait_readable(parts_->stream.descriptor(), cut.descriptor(), deadline)) return arrival::timed_out;
    return cut.raised() ? arrival::interrupted : arrival::ready;
}

void connection::post(const request& command, hearer heard) {
    require_nothing_awaited(command);
    const auto limit = send_request(command, {});
    if (parts_->posted) hear_posted(limit.until);
    --parts_->awaited;
    parts_->posted = std::move(heard);
}

void connection::hear_posted(clock::time_point until) noexcept {
    const auto heard = std::exchange(parts_->posted, nullptr);
    if (parts_->broken || parts_->stream.inherited()) return parts_->stream.inherited() ? void() : heard(nullptr);
    try {
        auto found = parts_->stream.receive(until, false);
        if (auto* const answer = std::get_if<reply>(&found)) {
            if (answer->is_error()) retire_if_refused(*answer, nullptr, 0);
            return heard(answer);
        }
    } catch (const std::exception&) {
        // No memory for the answer: as if there were none.
    }
    parts_->broken = true;
    heard(nullptr);
}

const server_features& connection::features(std::optional<clock::time_point> deadline) {
    if (!parts_->features) {
        const auto answers = pipeline(features_question(), deadline);
        parts_->features = features_from(answers[0], answers[1]);
    }
    return *parts_->features;
}

std::optional<std::int64_t> connection::id() const noexcept { return parts_->id; }

const std::string& connection::address() const noexcept { return parts_->address; }

void connection::remember_id(std::int64_t id, std::string address) noexcept {
    parts_->id = id;
    parts_->address = std::move(address);
}

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

void throw_if_error(const reply_view& answer, const request& commands, const endpoint& where, std::size_t index) {
    if (!answer.is_error()) return;
    const auto text = without_arguments(answer.text());
    throw error(classify_error_reply(text), fmt::format("{} on {}: {}", commands.describe(index), where.printable(),
                                                        printable(text, longest_server_text)));
}

}  // namespace tranca
