#include <tranca/request.hpp>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>

namespace tranca {

namespace {

std::size_t take_number(std::string_view& bytes) {
    std::size_t number = 0;
    std::from_chars(bytes.data() + 1, bytes.data() + bytes.size(), number);
    bytes.remove_prefix(bytes.find('\n') + 1);
    return number;
}

std::string_view take_argument(std::string_view& bytes) {
    const auto size = take_number(bytes);
    const auto argument = bytes.substr(0, size);
    bytes.remove_prefix(size + 2);
    return argument;
}

// The arguments of the first command in `bytes`, which is removed from it.
std::vector<std::string_view> take_command(std::string_view& bytes) {
    std::vector<std::string_view> arguments(take_number(bytes));
    for (auto& argument : arguments)
        argument = take_argument(bytes);
    return arguments;
}

using words = std::initializer_list<std::string_view>;

// Redis takes a command's name in any case.
bool is_one_of(std::string_view name, words upper_case_names) {
    const auto same = [](char a, char b) { return a == b || (a >= 'a' && a <= 'z' && a - 'a' + 'A' == b); };
    return std::ranges::any_of(upper_case_names,
                               [&](std::string_view other) { return std::ranges::equal(name, other, same); });
}

void skip_command(std::string_view& bytes) {
    for (auto count = take_number(bytes); count > 0; --count)
        take_argument(bytes);
}

bool takes_script(std::string_view name) {
    return is_one_of(name, {"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"});
}

bool has_no_key(std::string_view name) {
    return is_one_of(name, {"AUTH", "HELLO", "SCRIPT", "CLIENT", "SELECT", "PING", "ECHO", "CONFIG", "ACL", "FUNCTION",
                            "INFO", "CLUSTER", "TIME", "COMMAND"});
}

// Where a command keeps its key; 0: nowhere, or not worth showing.
std::size_t key_position(const std::vector<std::string_view>& arguments) {
    const auto name = arguments.front();
    if (takes_script(name)) {
        const auto keys = arguments.size() > 2 ? arguments[2] : std::string_view{};
        const bool some = !keys.empty() && keys != "0" && keys.find_first_not_of("0123456789") == keys.npos;
        return some ? 3 : 0;
    }
    return has_no_key(name) ? 0 : 1;
}

}  // namespace

request request::with_first_two(std::string_view first, std::string_view second) const {
    std::string_view rest = bytes_;
    const auto count = take_number(rest);
    for (int i = 0; i < 2; ++i)
        take_argument(rest);
    request changed;
    changed.bytes_.reserve(bytes_.size() + first.size() + second.size());
    changed.begin_command(count);
    changed.append(first);
    changed.append(second);
    changed.bytes_ += rest;
    return changed;
}

request request::each_after(const request& other) const {
    request mixed;
    std::string_view rest = bytes_;
    while (!rest.empty()) {
        const auto before = rest;
        skip_command(rest);
        mixed.add_request(other);
        mixed.bytes_ += before.substr(0, before.size() - rest.size());
        ++mixed.size_;
    }
    return mixed;
}

std::string_view request::first_key() const noexcept {
    std::string_view rest = bytes_;
    if (rest.empty()) return {};
    const auto count = take_number(rest);
    const auto name = take_argument(rest);
    if (count < 2 || has_no_key(name)) return {};
    if (!takes_script(name)) return take_argument(rest);
    if (count < 4) return {};
    take_argument(rest);
    return take_argument(rest) == "0" ? std::string_view{} : take_argument(rest);
}

bool request::changes_connection() const noexcept {
    if (size_ == 0) return false;
    std::string_view rest = bytes_;
    const auto count = take_number(rest);
    const auto name = take_argument(rest);
    if (is_one_of(name, {"CLIENT"}) && count > 1)
        return is_one_of(take_argument(rest),
                         {"SETNAME", "SETINFO", "REPLY", "TRACKING", "CACHING", "NO-EVICT", "NO-TOUCH"});
    return is_one_of(name, {"SELECT", "AUTH", "HELLO", "RESET", "MULTI", "WATCH", "SUBSCRIBE", "PSUBSCRIBE",
                            "SSUBSCRIBE", "MONITOR", "READONLY", "READWRITE", "ASKING", "QUIT"});
}

std::string request::describe(std::size_t index) const {
    std::string_view rest = bytes_;
    if (index >= size_) return "nothing";
    auto arguments = take_command(rest);
    for (; index > 0; --index)
        arguments = take_command(rest);
    if (is_one_of(arguments.front(), {"MULTI"}) && !rest.empty()) arguments = take_command(rest);
    const auto position = key_position(arguments);
    const auto name = printable(arguments.front(), 30);
    if (position == 0 || position >= arguments.size()) return name;
    return fmt::format("{} \"{}\"", name, printable(arguments[position]));
}

}  // namespace tranca
