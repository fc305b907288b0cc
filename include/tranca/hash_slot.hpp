#pragma once

// In which of the 16384 slots of a Redis Cluster a key lies. Pure.
//
//     tranca::hash_slot("account:7") == tranca::hash_slot("{account:7}:wake")
//
// Promises: the number that CLUSTER KEYSLOT answers.
// Source: Redis Cluster specification, "Key distribution model" and "Appendix A: CRC16 reference implementation".

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tranca/key.hpp>

namespace tranca {

namespace detail {

/// The remainders of one byte, by the polynomial x^16 + x^12 + x^5 + 1.
[[nodiscard]] constexpr std::array<std::uint16_t, 256> crc16_table() noexcept {
    std::array<std::uint16_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte << 8;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest & 0x8000) != 0 ? rest << 1 ^ 0x1021 : rest << 1;
        table[byte] = static_cast<std::uint16_t>(rest);
    }
    return table;
}

}  // namespace detail

/// CRC-16/XMODEM. Pure.
[[nodiscard]] constexpr std::uint16_t crc16(std::string_view bytes) noexcept {
    constexpr auto table = detail::crc16_table();
    std::uint32_t sum = 0;
    for (const char byte : bytes)
        sum = (sum << 8 & 0xffff) ^ table[(sum >> 8 ^ static_cast<unsigned char>(byte)) & 0xff];
    return static_cast<std::uint16_t>(sum);
}

/// The slot of a key: of its hash tag, where it has one. Pure.
[[nodiscard]] inline unsigned hash_slot(std::string_view key_bytes) noexcept {
    return crc16(hash_tag(key_bytes)) % 16'384U;
}

}  // namespace tranca
