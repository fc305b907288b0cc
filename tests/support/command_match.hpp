// command_match: which command of which connection a gate or a fake server means.
//
//     gate.hold(named("PEXPIRE"));                        // by name; "PEXPIRE" alone converts
//     gate.hold(nth(2, named("SET|EVALSHA")));            // the second of them, counted from now on
//     gate.delay_replies(5ms, on_connection(1));          // everything of the first connection
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tranca::testing {

struct seen_command {
    std::size_t connection{0};           // 1: the first that was accepted
    std::vector<std::string> arguments;  // empty: a message that answers no command

    [[nodiscard]] std::string text() const;  // arguments with blanks between
};

class command_match {
public:
    command_match(const char* name);  // NOLINT: named(name)
    command_match(
        std::function<bool(const seen_command&)> predicate)  // NOLINT: runs in the gate's thread; must not call it
        : predicate_{std::move(predicate)} {}

    [[nodiscard]] bool operator()(const seen_command& command) const { return predicate_(command); }

private:
    std::function<bool(const seen_command&)> predicate_;
};

[[nodiscard]] command_match any_command();
[[nodiscard]] command_match named(const std::string& regex);      // whole name, any case: "SET", "EVAL(SHA)?"
[[nodiscard]] command_match text_like(const std::string& regex);  // anywhere in the command with its arguments
[[nodiscard]] command_match on_connection(std::size_t number, command_match match = any_command());
[[nodiscard]] command_match nth(std::size_t number, command_match match);  // only the number-th match, counted from 1

}  // namespace tranca::testing
