#pragma once

// Pieces of a URL.
//
// Promises: what is refused is told without a piece of the URL, any part of which may turn out to be a piece of a password
// that was not encoded.

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <tranca/time.hpp>

namespace tranca {

/// Throws errc::invalid_url.
[[noreturn]] void refuse_url(std::string_view reason);

/// Decoded once. `part` says in an error what it was. Throws errc::invalid_url.
[[nodiscard]] std::string percent_decoded(std::string_view text, std::string_view part);

/// "500ms" or "2s". `option` says in an error whose it is. Throws errc::invalid_url.
[[nodiscard]] milliseconds duration_with_unit(std::string_view text, std::string_view option);

/// Takes what stands before the first of `ends`, or everything.
[[nodiscard]] std::string_view take_until(std::string_view& text, std::string_view ends);

/// All of the text, or nothing.
template <class Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace tranca
