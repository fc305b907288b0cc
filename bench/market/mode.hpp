#pragma once

// The four ways to buy and sell safely that are compared.

#include <array>
#include <optional>
#include <string_view>

namespace tranca::bench {

enum class mode {
    watch,   ///< WATCH, look, MULTI/EXEC; begin again if somebody interfered (the book, table 6.1)
    lock,    ///< one px_lock for the whole market (table 6.2)
    fine,    ///< one px_lock an item (table 6.3)
    script,  ///< the whole trade as one Lua script: the floor, not in the book
};

inline constexpr std::array all_modes{mode::watch, mode::lock, mode::fine, mode::script};

constexpr std::string_view name_of(mode m) noexcept {
    constexpr std::array<std::string_view, 4> names{"watch", "lock", "fine", "script"};
    return names[static_cast<std::size_t>(m)];
}

/// What guards a trade: the class name, or "raw" where only Redis itself does.
constexpr std::string_view primitive_of(mode m) noexcept {
    return m == mode::lock || m == mode::fine ? "px_lock" : "raw";
}

constexpr std::optional<mode> mode_named(std::string_view name) noexcept {
    for (const mode m : all_modes) {
        if (name_of(m) == name) return m;
    }
    return std::nullopt;
}

}  // namespace tranca::bench
