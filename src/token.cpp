#include <tranca/token.hpp>

#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace tranca {

namespace {

void fill_with_random_bytes(unsigned char* bytes, std::size_t size) {
    while (size > 0) {
        const auto got = ::getrandom(bytes, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw std::system_error(errno, std::generic_category(), "getrandom for a token");
        bytes += got;
        size -= static_cast<std::size_t>(got);
    }
}

}  // namespace

token token::generate() {
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    std::array<unsigned char, 16> bytes;
    fill_with_random_bytes(bytes.data(), bytes.size());
    token fresh;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        fresh.digits_[2 * i] = hexadecimal[bytes[i] >> 4U];
        fresh.digits_[2 * i + 1] = hexadecimal[bytes[i] & 0x0fU];
    }
    return fresh;
}

}  // namespace tranca
