#include <tranca/key.hpp>

#include <utility>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca {

key::key(std::string bytes) : bytes_(std::move(bytes)) {
    if (bytes_.empty()) throw error(errc::invalid_argument, "a key must not be empty");
    if (bytes_.size() > max_size)
        throw error(errc::invalid_argument,
                    fmt::format("key {} has {} bytes, more than the {} allowed", printable(), bytes_.size(), max_size));
}

std::string key::printable() const { return tranca::printable(bytes_); }

key prefixed_key(std::string_view prefix, std::string_view name) {
    if (name.empty()) throw error(errc::invalid_argument, "the name must not be empty");
    return key{std::string{prefix}.append(name)};
}

std::string_view hash_tag(std::string_view key_bytes) noexcept {
    const auto open = key_bytes.find('{');
    if (open == std::string_view::npos) return key_bytes;
    const auto close = key_bytes.find('}', open + 1);
    if (close == std::string_view::npos || close == open + 1) return key_bytes;
    return key_bytes.substr(open + 1, close - open - 1);
}

void require_proper_hash_tag(std::string_view name) {
    const bool has_braces = name.find_first_of("{}") != std::string_view::npos;
    if (has_braces && hash_tag(name).size() == name.size())
        throw error(
            errc::invalid_argument,
            fmt::format("the braces in the name {} form no hash tag: use them as in \"{{tag}}rest\" or not at all",
                        printable(name)));
}

std::string printable(std::string_view bytes, std::size_t limit) {
    constexpr std::string_view more = "...";
    std::string text;
    std::size_t cut = 0;  // where the text ends if something has to be left out
    for (const char byte : bytes) {
        if (text.size() + more.size() <= limit) cut = text.size();
        if (byte >= ' ' && byte <= '~' && byte != '\\') text += byte;
        else text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
        if (text.size() > limit) return text.substr(0, cut).append(more.substr(0, limit));
    }
    return text;
}

}  // namespace tranca
