// URLs: whatever they are, they are read or refused; what was read is valid, and the password appears in no text.
#include <string>

#include <fmt/format.h>

#include <tranca/endpoint.hpp>

#include "fuzz.hpp"

namespace tranca::fuzz {
namespace {

constexpr std::string_view marked = "pass-word-";

std::string percent_encoded(std::string_view text) {
    std::string made;
    for (const char byte : text)
        made += fmt::format("%{:02x}", static_cast<unsigned char>(byte));
    return made;
}

void read_anything(std::string_view url) {
    succeeds(
        [&] {
            const auto where = endpoint::parse(url);
            where.validate();
            require(!where.printable().empty(), "an endpoint without a text");
        },
        errc::invalid_url, errc::invalid_argument);
}

// Percent encoding comes through unchanged, once.
void read_account(std::string_view text) {
    const auto half = text.size() / 2;
    const auto user = "u" + std::string{text.substr(0, half)};
    const auto password = std::string{marked} + std::string{text.substr(half)};
    const auto where =
        endpoint::parse("redis://" + percent_encoded(user) + ":" + percent_encoded(password) + "@cache.example:7000/3");
    require(where.user == user && where.password == password, "an account that was encoded is another");
    require(where.host == "cache.example" && where.port == 7000 && where.database == 3, "an account changes the rest");
    require(user.find(marked) != std::string::npos || where.printable().find(marked) == std::string::npos,
            "a password is told");
}

// However it goes wrong after the password, the text of the refusal does not have it.
void refuse_with_password(std::string_view text) {
    if (text.find(marked) != std::string_view::npos) return;
    try {
        const auto where = endpoint::parse("redis://u:" + std::string{marked} + std::string{text});
        require(where.printable().find(marked) == std::string::npos || where.host.find(marked) != std::string::npos ||
                    where.user.find(marked) != std::string::npos,
                "a password is told");
    } catch (const error& failure) {
        require(std::string_view{failure.what()}.find(marked) == std::string_view::npos, "a refusal tells a password");
    }
}

}  // namespace
}  // namespace tranca::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = tranca::fuzz::text_of(data, size);
    tranca::fuzz::read_anything(text);
    tranca::fuzz::read_account(text);
    tranca::fuzz::refuse_with_password(text);
    return 0;
}
