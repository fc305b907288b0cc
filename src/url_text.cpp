#include "url_text.hpp"

#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca {

namespace {

std::optional<int> hexadecimal_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return std::nullopt;
}

}  // namespace

void refuse_url(std::string_view reason) {
    throw error(errc::invalid_url, fmt::format("the Redis URL cannot be read: {}", reason));
}

std::string percent_decoded(std::string_view text, std::string_view part) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        const auto high = i + 1 < text.size() ? hexadecimal_digit(text[i + 1]) : std::nullopt;
        const auto low = i + 2 < text.size() ? hexadecimal_digit(text[i + 2]) : std::nullopt;
        if (!high || !low) refuse_url(fmt::format("a % in the {} is not followed by two hexadecimal digits", part));
        decoded += static_cast<char>(*high * 16 + *low);
        i += 2;
    }
    return decoded;
}

milliseconds duration_with_unit(std::string_view text, std::string_view option) {
    const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
    const auto unit = text.substr(digits.size());
    const auto number = whole_number<std::int64_t>(digits);
    if (!number || (unit != "ms" && unit != "s"))
        refuse_url(fmt::format("{} must be a number with its unit, as in 500ms or 2s", option));
    if (*number > longest_duration.count()) refuse_url(fmt::format("{} is too long", option));
    return unit == "s" ? milliseconds{std::chrono::seconds{*number}} : milliseconds{*number};
}

std::string_view take_until(std::string_view& text, std::string_view ends) {
    const auto taken = text.substr(0, text.find_first_of(ends));
    text.remove_prefix(taken.size());
    return taken;
}

}  // namespace tranca
