#include "support/command_match.hpp"

#include <atomic>
#include <memory>
#include <regex>

namespace tranca::testing {

std::string seen_command::text() const {
    std::string result;
    for (const auto& word : arguments) {
        (result += result.empty() ? "" : " ") += word;
    }
    return result;
}

command_match::command_match(const char* name) : command_match{named(name)} {}

command_match any_command() {
    return command_match{[](const seen_command&) { return true; }};
}

command_match named(const std::string& regex) {
    return command_match{[pattern = std::regex{regex, std::regex::icase}](const seen_command& command) {
        return !command.arguments.empty() && std::regex_match(command.arguments.front(), pattern);
    }};
}

command_match text_like(const std::string& regex) {
    return command_match{[pattern = std::regex{regex}](const seen_command& command) {
        return std::regex_search(command.text(), pattern);
    }};
}

command_match on_connection(std::size_t number, command_match match) {
    return command_match{[number, match = std::move(match)](const seen_command& command) {
        return command.connection == number && match(command);
    }};
}

command_match nth(std::size_t number, command_match match) {
    auto met = std::make_shared<std::atomic<std::size_t>>(0);
    return command_match{[number, match = std::move(match), met = std::move(met)](const seen_command& command) {
        return match(command) && ++*met == number;
    }};
}

}  // namespace tranca::testing
