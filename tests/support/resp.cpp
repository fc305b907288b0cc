#include "support/resp.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>

namespace tranca::testing {
namespace {

constexpr std::string_view line_end = "\r\n";

std::optional<std::int64_t> to_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

// How many elements follow the header of a collection, for each element it counts.
std::int64_t elements_each(char type) {
    switch (type) {
    case '*':
    case '~':
    case '>': return 1;
    case '%':
    case '|': return 2;
    default: return 0;
    }
}

// One header line, with the bytes of a bulk string.
struct element {
    std::size_t length;    // incomplete, no_resp, or how long it is
    std::int64_t more{0};  // elements that belong to it and follow
};

element first_element(std::string_view bytes) {
    constexpr std::string_view lines = "+-:_,#(";
    constexpr std::string_view bulks = "$!=";
    const char type = bytes.front();
    const std::int64_t each = elements_each(type);
    const bool bulk = bulks.find(type) != std::string_view::npos;
    if (lines.find(type) == std::string_view::npos && !bulk && each == 0) {
        return {no_resp};
    }

    const auto end = bytes.find(line_end);
    if (end == std::string_view::npos) {
        return {incomplete};
    }
    const std::size_t header = end + line_end.size();
    if (!bulk && each == 0) {
        return {header};
    }

    const auto count = to_number(bytes.substr(1, end - 1));
    if (!count || *count < -1) {
        return {no_resp};
    }
    if (*count == -1) {
        return {header};
    }
    if (each != 0) {
        return {header, *count * each + (type == '|' ? 1 : 0)};
    }
    const std::size_t whole = header + static_cast<std::size_t>(*count) + line_end.size();
    if (bytes.size() < whole) {
        return {incomplete};
    }
    return {bytes.substr(whole - line_end.size(), line_end.size()) == line_end ? whole : no_resp};
}

}  // namespace

std::size_t frame_length(std::string_view bytes) {
    std::size_t length = 0;
    for (std::int64_t missing = 1; missing > 0; --missing) {
        if (length == bytes.size()) {
            return incomplete;
        }
        const element next = first_element(bytes.substr(length));
        if (next.length == incomplete || next.length == no_resp) {
            return next.length;
        }
        length += next.length;
        missing += next.more;
    }
    return length;
}

std::size_t request_length(std::string_view bytes) {
    if (bytes.empty()) {
        return incomplete;
    }
    if (bytes.front() == '*') {
        return frame_length(bytes);
    }
    const auto first = static_cast<unsigned char>(bytes.front());
    if (first < 0x20 && first != '\r' && first != '\n') {
        return no_resp;
    }  // a TLS record, for one
    const auto end = bytes.find('\n');
    return end == std::string_view::npos ? incomplete : end + 1;
}

std::vector<std::string> command_words(std::string_view request) {
    std::vector<std::string> words;
    if (request.empty() || request.front() != '*') {
        std::istringstream line{std::string{request}};
        for (std::string word; line >> word;) {
            words.push_back(word);
        }
        return words;
    }
    std::size_t place = request.find(line_end) + line_end.size();
    while (place < request.size()) {
        const auto end = request.find(line_end, place);
        const auto size = to_number(request.substr(place + 1, end - place - 1)).value_or(0);
        words.emplace_back(request.substr(end + line_end.size(), static_cast<std::size_t>(size)));
        place = end + 2 * line_end.size() + static_cast<std::size_t>(size);
    }
    return words;
}

std::string encode_command(const std::vector<std::string>& words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words) {
        ((bytes += "$" + std::to_string(word.size()) + "\r\n") += word) += "\r\n";
    }
    return bytes;
}

}  // namespace tranca::testing
