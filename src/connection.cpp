#include <tranca/connection.hpp>

#include <string>
#include <utility>

#include <fmt/format.h>

#include <tranca/error.hpp>

#include "connection_parts.hpp"

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

}  // namespace

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

bool connection::failed() const noexcept { return parts_ && (parts_->broken || parts_->refused); }

bool connection::stale() const noexcept {
    // Where an answer is due, there is no telling it from a farewell; the next use finds out.
    return !usable() || parts_->awaited > 0 || (!parts_->posted && parts_->stream.readable_or_closed());
}

std::size_t connection::awaited() const noexcept { return parts_ ? parts_->awaited : 0; }

void connection::retire() noexcept {
    if (parts_) parts_->retired = true;
}

const endpoint& connection::where() const noexcept { return parts_->where; }

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
    auto answers = asks_first() ? pipeline_asking_once(whole, deadline) : pipeline(whole, deadline);
    // A command refused while queueing says why; EXEC then only says that it gave up.
    for (std::size_t i = 0; i < answers.size(); ++i)
        throw_if_error(answers[i], whole, parts_->where, i);
    auto results = std::move(answers.back());
    if (results.is_nil()) return results;
    for (std::size_t i = 0; i < results.size(); ++i)
        throw_if_error(results[i], commands, parts_->where, i);
    return results;
}

// Between MULTI and EXEC it would be one of the commands.
std::vector<reply> connection::pipeline_asking_once(const request& commands,
                                                    std::optional<clock::time_point> deadline) {
    request all = asking();
    all.add_request(commands);
    parts_->asks_first = false;
    auto answers = pipeline(all, deadline);
    parts_->asks_first = true;
    answers.erase(answers.begin());
    return answers;
}

int connection::descriptor() const noexcept { return parts_->stream.descriptor(); }

bool connection::has_bytes() const noexcept { return parts_->stream.has_bytes(); }

const server_features& connection::features(std::optional<clock::time_point> deadline) {
    if (!parts_->features) {
        const auto answers = pipeline(features_question(), deadline);
        parts_->features = features_from(answers[0], answers[1]);
    }
    return *parts_->features;
}

const std::optional<redirection>& connection::redirected() const noexcept { return parts_->redirected; }

void connection::ask_first(bool on) noexcept {
    if (!parts_) return;
    parts_->asks_first = on;
    parts_->permitted = false;
}

bool connection::asks_first() const noexcept { return parts_ && parts_->asks_first; }

std::optional<std::int64_t> connection::id() const noexcept { return parts_->id; }

const std::string& connection::address() const noexcept { return parts_->address; }

void connection::remember_id(std::int64_t id, std::string address) noexcept {
    parts_->id = id;
    parts_->address = std::move(address);
}

std::vector<reply> connection::send_last_word(const endpoint& where, const request& last,
                                              milliseconds budget) noexcept {
    try {
        const auto deadline = deadline_after(budget);
        connection fresh{where, deadline};
        request everything = handshake(where);
        const auto before = static_cast<std::ptrdiff_t>(everything.size());
        everything.add_request(last);
        auto answers = fresh.pipeline(everything, deadline);
        answers.erase(answers.begin(), answers.begin() + before);
        return answers;
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace tranca
