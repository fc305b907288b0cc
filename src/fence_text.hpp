#pragma once

// Fencing numbers as the scripts take and tell them: decimal text, since Lua's numbers would lose digits.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <tranca/connection_pool.hpp>
#include <tranca/error.hpp>

namespace tranca {

/// Throws errc::protocol if it is no number.
[[nodiscard]] inline std::uint64_t fence_from(std::string_view digits) {
    std::uint64_t number = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number);
    if (failure != std::errc{} || stop != end) throw error(errc::protocol, "a fence that is no number");
    return number;
}

/// The fence of a grant: from 1 up, less than 2^53, as the scripts mint them. Throws errc::protocol for anything else.
[[nodiscard]] inline std::uint64_t granted_fence(std::string_view digits) {
    const auto number = fence_from(digits);
    if (number == 0 || number >= std::uint64_t{1} << 53U) throw error(errc::protocol, "a fence that no script mints");
    return number;
}

/// What the next fence is to be at least, by what this client has seen; empty: it has seen none.
[[nodiscard]] inline std::string fence_floor(const connection_pool& pool) {
    const auto seen = pool.largest_fence();
    return seen == 0 ? std::string{} : std::to_string(seen + 1);
}

}  // namespace tranca
