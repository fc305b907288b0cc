// wording: a request as a person would say it, for diagrams.
//
//     wording words;
//     words.learn_tokens(bytes, 'A');                  // tokens that A is the first to send are <A> from now on
//     words.say(bytes);                                // "SETNX lock:thing <A>", "acquire_mutex lock:thing"
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tranca::interleave {

// The arguments of each command of a request.
[[nodiscard]] std::vector<std::vector<std::string>> commands_of(std::string_view bytes);

// The tokens that stand in a request.
[[nodiscard]] std::vector<std::string> tokens_in(std::string_view bytes);

// For how long a BLPOP at the front of it blocks.
[[nodiscard]] std::optional<double> seconds_of_block(std::string_view bytes);

// Does it touch nothing that another client could see?
[[nodiscard]] bool is_private(std::string_view bytes);

class wording {
public:
    void learn_tokens(std::string_view bytes, char who);
    [[nodiscard]] std::string say(std::string_view bytes) const;

private:
    [[nodiscard]] std::string say_argument(const std::string& argument) const;
    [[nodiscard]] std::string say_command(const std::vector<std::string>& arguments) const;

    std::map<std::string, char> owners_;
};

}  // namespace tranca::interleave
