#pragma once

// The name of something in Redis: any bytes, counted, never a format string.
//
//     tranca::key name{"lock:invoice 7%"};
//     name.printable();   // lock:invoice 7%  - what error texts show: short, with odd bytes escaped
//
// Promises: distinct byte strings are distinct keys; nothing is trimmed, normalised or cut at a NUL.
// Does not promise that two spellings of one accented letter are one key: bytes are compared, not characters.

#include <cstddef>
#include <string>
#include <string_view>

namespace tranca {

/// A Redis key. Does not convert to or from a string, so that it cannot change places with a token.
class key {
public:
    /// The longest key accepted, in bytes; Redis takes more, but a longer lock name is surely a mistake.
    static constexpr std::size_t max_size = std::size_t{1} << 20;

    /// Throws errc::invalid_argument if `bytes` is empty or longer than max_size. No I/O.
    explicit key(std::string bytes);

    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

    /// For people: odd bytes as \xNN, shortened to about 100 characters. No I/O.
    [[nodiscard]] std::string printable() const;

    friend bool operator==(const key&, const key&) = default;

private:
    std::string bytes_;
};

/// `prefix` + `name` as a key. An empty name is refused even if the prefix is not. No I/O.
[[nodiscard]] key prefixed_key(std::string_view prefix, std::string_view name);

/// What Redis Cluster hashes: the part between the first '{' and the next '}' if there is something between them,
/// otherwise the whole key. Pure. Source: Redis Cluster specification, "Hash tags".
[[nodiscard]] std::string_view hash_tag(std::string_view key_bytes) noexcept;

/// Throws errc::invalid_argument if `name` has braces that form no proper hash tag: keys derived from such a name could
/// fall into different Cluster slots. For primitives that use more than one key. No I/O.
void require_proper_hash_tag(std::string_view name);

/// Bytes made fit for a terminal: printable ASCII stays, everything else becomes \xNN; at most `limit` characters. Pure.
[[nodiscard]] std::string printable(std::string_view bytes, std::size_t limit = 100);

}  // namespace tranca
