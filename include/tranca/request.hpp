#pragma once

// Commands on their way to Redis, as counted arguments.
//
//     tranca::request one{"SET", name, mine, "NX", "PX", 10'000};
//     tranca::request two{"GET", "a"};
//     two.add("PTTL", "a");                  // a pipeline: two commands, one write
//
// Promises: an argument may hold any bytes; none is ever read as a format, split at a blank or cut at a NUL.
// Does not promise that the command makes sense: that is the server's to say.
// Source: Redis serialization protocol specification, "Sending commands to a Redis server".

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <tranca/error.hpp>
#include <tranca/key.hpp>
#include <tranca/time.hpp>
#include <tranca/token.hpp>

namespace tranca {

/// What may stand in a command: text, whole numbers, keys, tokens, and durations (as whole milliseconds, rounded up).
template <class T>
concept request_argument = (std::convertible_to<const T&, std::string_view> && !std::same_as<T, std::nullptr_t>) ||
                           (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, key> ||
                           std::same_as<T, token> || std::same_as<T, milliseconds>;

/// One command or a pipeline of several, encoded. Not thread-safe; no I/O.
class request {
public:
    request() = default;

    template <request_argument... Arguments>
        requires(sizeof...(Arguments) > 0)
    explicit request(const Arguments&... arguments) { add(arguments...); }

    /// Appends a command.
    template <request_argument... Arguments>
        requires(sizeof...(Arguments) > 0)
    request& add(const Arguments&... arguments) {
        begin_command(sizeof...(Arguments));
        (append(arguments), ...);
        return *this;
    }

    /// Appends a command whose number of arguments is known at run time only. Throws errc::invalid_argument if there are
    /// none: the server would not answer.
    request& add_all(std::span<const std::string_view> arguments) {
        if (arguments.empty()) throw error(errc::invalid_argument, "a command needs at least its name");
        begin_command(arguments.size());
        for (const auto argument : arguments)
            append(argument);
        return *this;
    }

    /// Appends the commands of another request.
    request& add_request(const request& other) {
        bytes_ += other.bytes_;
        size_ += other.size_;
        return *this;
    }

    /// A copy of a single command with its first two arguments replaced.
    [[nodiscard]] request with_first_two(std::string_view first, std::string_view second) const;

    /// How many commands there are.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// What goes over the wire.
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

    /// For people: a command's name and its key, as in `SET "lock:a"`; never another argument, since those may be tokens
    /// or passwords. For MULTI it is the command that follows.
    [[nodiscard]] std::string describe(std::size_t index = 0) const;

    /// True if the first command is one after which a connection means something else by later ones: SELECT, MULTI,
    /// WATCH, SUBSCRIBE, CLIENT SETNAME and their like.
    [[nodiscard]] bool changes_connection() const noexcept;

private:
    void begin_command(std::size_t arguments) {
        if (bytes_.empty()) bytes_.reserve(160);
        append_header('*', arguments);
        ++size_;
    }

    void append_header(char kind, std::size_t count) {
        bytes_ += kind;
        bytes_ += digits{count}.view();
        bytes_ += "\r\n";
    }

    template <std::integral Number>
    struct digits {
        explicit digits(Number number) noexcept
            : size(static_cast<std::size_t>(std::to_chars(text, text + sizeof text, number).ptr - text)) {}
        [[nodiscard]] std::string_view view() const noexcept { return {text, size}; }

        char text[std::numeric_limits<Number>::digits10 + 3];
        std::size_t size;
    };

    void append(std::string_view text) {
        append_header('$', text.size());
        bytes_ += text;
        bytes_ += "\r\n";
    }
    void append(const key& name) { append(name.bytes()); }
    void append(const token& owner) { append(owner.text()); }
    void append(milliseconds duration) { append(duration.count()); }
    template <std::integral Number>
    void append(Number number) {
        append(digits{number}.view());
    }

    std::string bytes_;
    std::size_t size_ = 0;
};

}  // namespace tranca
