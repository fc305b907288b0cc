#include "interleave/choice.hpp"

#include <sstream>
#include <stdexcept>

namespace tranca::interleave {

namespace {

constexpr std::string_view marks = " ~!.?*&^>";  // in the order of choice::kind

choice parse_choice(const std::string& word) {
    if (word == "x") return {choice::kind::expiry};
    if (word == "f") return {choice::kind::script_flush};
    const bool has_client = !word.empty() && word[0] >= 'A' && word[0] <= 'Z' && word.size() <= 3;
    const auto mark = word.size() >= 2 ? marks.find(word[1]) : 0;
    const bool has_other = word.size() == 3 && word[2] >= 'A' && word[2] <= 'Z';
    const bool wants_other = mark == static_cast<std::size_t>(choice::kind::together);
    if (!has_client || mark == std::string_view::npos || has_other != wants_other || has_other != (word.size() == 3))
        throw std::invalid_argument("no choice: " + word);
    const auto other = has_other ? static_cast<std::size_t>(word[2] - 'A') : 0;
    return {static_cast<choice::kind>(mark), static_cast<std::size_t>(word[0] - 'A'), other};
}

}  // namespace

std::string text(const choice& one) {
    if (one.what == choice::kind::expiry) return "x";
    if (one.what == choice::kind::script_flush) return "f";
    std::string made(1, static_cast<char>('A' + one.client));
    if (one.what != choice::kind::step) made += marks[static_cast<std::size_t>(one.what)];
    if (one.what == choice::kind::together) made += static_cast<char>('A' + one.other);
    return made;
}

std::string text(const choices& all) {
    std::string made;
    for (const auto& one : all)
        made += (made.empty() ? "" : " ") + text(one);
    return made;
}

choices parse_choices(std::string_view all) {
    choices found;
    std::istringstream words{std::string{all}};
    for (std::string word; words >> word;)
        found.push_back(parse_choice(word));
    return found;
}

}  // namespace tranca::interleave
