// Names: their hash tags, slots and helper keys.
#include <algorithm>
#include <string>
#include <vector>

#include <tranca/hash_slot.hpp>
#include <tranca/helper_key.hpp>
#include <tranca/key_group.hpp>

#include "fuzz.hpp"

namespace tranca::fuzz {
namespace {

// As the specification of Redis Cluster says it, written anew.
std::string_view specified_tag(std::string_view name) {
    for (std::size_t open = 0; open < name.size(); ++open) {
        if (name[open] != '{') continue;
        for (std::size_t close = open + 1; close < name.size(); ++close)
            if (name[close] == '}') return close == open + 1 ? name : name.substr(open + 1, close - open - 1);
        return name;
    }
    return name;
}

unsigned specified_crc(std::string_view bytes) {
    unsigned sum = 0;
    for (const char byte : bytes) {
        sum ^= static_cast<unsigned>(static_cast<unsigned char>(byte)) << 8U;
        for (int bit = 0; bit < 8; ++bit)
            sum = ((sum & 0x8000U) != 0 ? sum << 1U ^ 0x1021U : sum << 1U) & 0xffffU;
    }
    return sum;
}

void check_text(std::string_view name) {
    const auto shown = printable(name);
    require(shown.size() <= 100, "a text for people is too long");
    require(std::ranges::all_of(shown, [](char c) { return c >= ' ' && c <= '~'; }), "a text for people has odd bytes");
    require(hash_tag(name) == specified_tag(name), "a hash tag is not the one specified");
    require(hash_slot(name) == specified_crc(specified_tag(name)) % 16'384U, "a slot is not the one specified");
}

std::vector<std::string> keys_of(const key& main) {
    std::vector<std::string> all{std::string{main.bytes()}};
    for (const auto* role : {"fence", "wake", "wait", "queue", "seen", "state", "turn"})
        all.push_back(helper_key(main.bytes(), role));
    return all;
}

void check_pair(std::string_view one, std::string_view other) {
    std::vector<key> mains;
    for (const auto name : {one, other})
        if (!succeeds([&] { mains.push_back(main_key_for("lock:", name)); }, errc::invalid_argument,
                      errc::invalid_argument))
            return;
    std::vector<std::string> all;
    for (const auto& main : mains) {
        for (auto& made : keys_of(main)) {
            require(hash_slot(made) == hash_slot(main.bytes()), "a helper key lies in another slot");
            all.push_back(std::move(made));
        }
        if (one == other) break;
    }
    std::ranges::sort(all);
    require(std::ranges::adjacent_find(all) == all.end(), "two keys have one name");

    const auto groups = grouped_by_slot(sorted_once(mains));
    require(groups.size() == (hash_slot(mains[0].bytes()) == hash_slot(mains[1].bytes()) ? 1U : 2U),
            "names are not grouped by their slots");
    for (const auto& group : groups)
        for (const auto& made : group.all())
            require(hash_slot(made) == hash_slot(group.locks().front()), "a group lies in several slots");
}

}  // namespace
}  // namespace tranca::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = tranca::fuzz::text_of(data, size);
    tranca::fuzz::check_text(text);
    const auto cut = text.find('\n');
    const auto one = text.substr(0, cut);
    tranca::fuzz::check_pair(one, cut == std::string_view::npos ? std::string_view{"other"} : text.substr(cut + 1));
    return 0;
}
