#include "interleave/wording.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "interleave/known_scripts.hpp"

namespace tranca::interleave {

namespace {

constexpr std::size_t token_size = 32;

// A token, or what begins with one: "TOKEN|fence|label".
bool begins_with_token(std::string_view word) {
    return word.size() >= token_size &&
           word.substr(0, token_size).find_first_not_of("0123456789abcdef") == std::string_view::npos &&
           (word.size() == token_size || word[token_size] == '|');
}

std::size_t take_number(std::string_view& bytes) {
    std::size_t number = 0;
    const auto end = std::min(bytes.find("\r\n"), bytes.size());
    std::from_chars(bytes.data() + 1, bytes.data() + end, number);
    bytes.remove_prefix(std::min(end + 2, bytes.size()));
    return number;
}

}  // namespace

std::vector<std::vector<std::string>> commands_of(std::string_view bytes) {
    std::vector<std::vector<std::string>> all;
    while (!bytes.empty() && bytes[0] == '*') {
        auto& command = all.emplace_back();
        for (auto left = take_number(bytes); left > 0 && !bytes.empty(); --left) {
            const auto size = take_number(bytes);
            command.emplace_back(bytes.substr(0, size));
            bytes.remove_prefix(std::min(size + 2, bytes.size()));
        }
    }
    return all;
}

std::vector<std::string> tokens_in(std::string_view bytes) {
    std::vector<std::string> found;
    for (auto at = bytes.find("\r\n"); at != std::string_view::npos; at = bytes.find("\r\n", at + 2)) {
        const auto word = bytes.substr(at + 2, bytes.find("\r\n", at + 2) - at - 2);
        if (begins_with_token(word)) found.emplace_back(word.substr(0, token_size));
    }
    return found;
}

std::optional<double> seconds_of_block(std::string_view bytes) {
    const auto all = commands_of(bytes.substr(0, 200));
    if (all.empty() || all[0].size() < 3 || all[0][0] != "BLPOP") return std::nullopt;
    return std::stod(all[0].back());
}

bool is_private(std::string_view bytes) {
    const auto start = bytes.substr(0, 40);
    return start.find("\r\nCLIENT\r\n$4\r\nINFO\r\n") != std::string_view::npos ||
           start.find("\r\nSCRIPT\r\n$4\r\nLOAD\r\n") != std::string_view::npos ||
           start.find("\r\nCOMMAND\r\n") != std::string_view::npos;
}

void wording::learn_tokens(std::string_view bytes, char who) {
    for (const auto& each : tokens_in(bytes))
        owners_.emplace(each, who);
}

std::string wording::say_argument(const std::string& argument) const {
    if (begins_with_token(argument)) {
        const auto owner = owners_.find(argument.substr(0, token_size));
        if (owner != owners_.end()) return std::string{"<"} + owner->second + ">";
    }
    const auto fraction = argument.rfind(".000000");
    if (fraction != std::string::npos && fraction + 7 == argument.size()) return argument.substr(0, fraction);
    return argument.size() > 24 ? argument.substr(0, 21) + "..." : argument;
}

std::string wording::say_command(const std::vector<std::string>& arguments) const {
    if (arguments.size() > 3 && (arguments[0] == "EVALSHA" || arguments[0] == "EVAL"))
        return name_of_script(arguments[1]) + " " + arguments[3] + (arguments[0] == "EVAL" ? " (its text)" : "");
    std::string said;
    for (const auto& each : arguments)
        said += (said.empty() ? "" : " ") + say_argument(each);
    return said;
}

std::string wording::say(std::string_view bytes) const {
    std::string said;
    for (const auto& command : commands_of(bytes)) {
        if (command.empty() || command[0] == "MULTI" || command[0] == "EXEC") continue;
        said += (said.empty() ? "" : "; ") + say_command(command);
    }
    return said;
}

}  // namespace tranca::interleave
