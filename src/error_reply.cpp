// What an error reply becomes: an exception with the command, its key, and the server's words.
#include <string_view>

#include <fmt/format.h>

#include <tranca/connection.hpp>

namespace tranca {

namespace {

// The server repeats arguments in some error texts, and one of them may be a password or a token.
std::string_view without_arguments(std::string_view text) {
    return text.substr(0, text.find(", with args beginning with"));
}

// A server's own words are shorter.
constexpr std::size_t longest_server_text = 500;

}  // namespace

void throw_if_error(const reply_view& answer, const request& commands, const endpoint& where, std::size_t index,
                    effect outcome) {
    if (!answer.is_error()) return;
    const auto text = without_arguments(answer.text());
    throw error(
        classify_error_reply(text),
        fmt::format("{} on {}: {}", commands.describe(index), where.printable(), printable(text, longest_server_text)),
        outcome);
}

}  // namespace tranca
