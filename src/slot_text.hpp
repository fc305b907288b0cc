#pragma once

// The slots of a semaphore as its scripts write them: "0,3,4".

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

#include <tranca/error.hpp>

namespace tranca {

/// Throws errc::protocol if they are no numbers.
[[nodiscard]] inline std::vector<std::int64_t> slots_from(std::string_view text) {
    std::vector<std::int64_t> slots;
    const auto* at = text.data();
    const auto* const end = at + text.size();
    while (at < end) {
        std::int64_t slot = 0;
        const auto [stop, failure] = std::from_chars(at, end, slot);
        if (failure != std::errc{} || slot < 0 || (stop != end && *stop != ','))
            throw error(errc::protocol, "slots that are no numbers");
        slots.push_back(slot);
        at = stop == end ? end : stop + 1;
    }
    return slots;
}

}  // namespace tranca
