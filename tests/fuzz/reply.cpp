// Bytes as a reply: a whole reply or errc::protocol; every look into one ends in a value or in errc::protocol.
#include <tranca/reply.hpp>
#include <tranca/server_features.hpp>

#include "fuzz.hpp"

namespace tranca::fuzz {
namespace {

using kind = reply_view::kind;

// Exactly the looks that the kind allows succeed.
void look_at(const reply_view& at) {
    const auto what = at.what();
    const bool is_text = what == kind::text || what == kind::status || what == kind::error;
    std::size_t bytes = 0;
    require(succeeds(
                [&] {
                    for (const char c : at.text())
                        bytes += c == '\n';
                },
                errc::protocol, errc::protocol) == is_text,
            "text");
    require(
        succeeds([&] { static_cast<void>(at.integer()); }, errc::protocol, errc::protocol) == (what == kind::integer),
        "integer");
    require(succeeds([&] { static_cast<void>(at.size()); }, errc::protocol, errc::protocol) == (what == kind::array),
            "size");
    require(!at.is_ok() || (what == kind::status && at.text() == "OK"), "ok");
    if (what == kind::error) static_cast<void>(classify_error_reply(at.text()));
    if (what != kind::array) return;
    for (std::size_t i = 0; i < at.size(); ++i)
        look_at(at[i]);
    require(!succeeds([&] { static_cast<void>(at[at.size()]); }, errc::protocol, errc::protocol), "beyond the end");
}

}  // namespace
}  // namespace tranca::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tranca;
    using namespace tranca::fuzz;
    const auto text = text_of(data, size);
    static_cast<void>(classify_error_reply(text));
    succeeds(
        [&] {
            const auto found = reply::parse(text);
            look_at(found);
            const auto features = features_from(found, found);
            require(!features.delex || found.what() == reply_view::kind::array, "features of what is no list");
        },
        errc::protocol, errc::protocol);
    return 0;
}
