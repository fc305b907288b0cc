#pragma once

// Numbers as people read them.

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace tranca::bench {

/// 1234567 -> "1,234,567".
inline std::string with_commas(std::uint64_t number) {
    auto text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

/// Three figures and the unit that fits: "0.42 us", "87 us", "3.1 ms", "1.20 s".
inline std::string time_text(double microseconds) {
    const auto figures = [](double value) {
        return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
    };
    if (microseconds < 999.5) return figures(microseconds) + " us";
    if (microseconds < 999.5e3) return figures(microseconds / 1e3) + " ms";
    return figures(microseconds / 1e6) + " s";
}

}  // namespace tranca::bench
