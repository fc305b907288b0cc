#pragma once

// Who holds a lock: 128 random bits, one per acquisition.
//
//     const auto mine = tranca::token::generate();
//     mine.text();    // 32 hexadecimal digits, what is stored in Redis
//
// Promises: bits come from the operating system's generator (getrandom), never from a clock, a counter or a seeded one.
// Does not promise secrecy: whoever may read the key in Redis can read the token.

#include <array>
#include <string_view>

namespace tranca {

/// The value that proves ownership. Cannot be made from a string.
class token {
public:
    /// A fresh token. Throws std::system_error if the operating system has no random bits. One system call.
    [[nodiscard]] static token generate();

    [[nodiscard]] std::string_view text() const noexcept { return {digits_.data(), digits_.size()}; }

    friend bool operator==(const token&, const token&) = default;

private:
    token() = default;

    std::array<char, 32> digits_{};
};

}  // namespace tranca
