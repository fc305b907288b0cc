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
#include <ranges>
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

    /// Appends a command that names a script and its keys: EVALSHA hash 2 key key argument ...
    template <std::ranges::sized_range Keys, request_argument... Arguments>
    request& add_script(std::string_view how, std::string_view which, const Keys& keys, const Arguments&... arguments) {
        begin_command(3 + std::ranges::size(keys) + sizeof...(Arguments));
        append(how);
        append(which);
        append(std::ranges::size(keys));
        for (const auto& each : keys)
            append(std::string_view{each});
        (append(arguments), ...);
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

    /// A copy with another command before each of its commands.
    [[nodiscard]] request each_after(const request& other) const;

    /// The first command's first key, where it is known to have one: by it the node of a Cluster is chosen. No I/O.
    [[nodiscard]] std::string_view first_key() const noexcept;

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
        if (bytes_.empty()) bytes_.reserve(usual_size);
        append_header('*', arguments);
        ++size_;
    }

    void append_header(char kind, std::size_t count) {
        char header[std::numeric_limits<std::size_t>::digits10 + 4];
        header[0] = kind;
        auto* const end = std::to_chars(header + 1, header + sizeof header - 2, count).ptr;
        end[0] = '\r';
        end[1] = '\n';
        bytes_.append(header, end + 2);
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
        bytes_.append(text).append("\r\n", 2);
    }
    void append(const key& name) { append(name.bytes()); }
    void append(const token& owner) { append(owner.text()); }
    void append(milliseconds duration) { append(duration.count()); }
    template <std::integral Number>
    void append(Number number) {
        append(digits{number}.view());
    }

    static constexpr std::size_t usual_size = 400;  // what the longest of the usual scripts take

    std::string bytes_;
    std::size_t size_ = 0;
};

}  // namespace tranca
