#pragma once

// The book's key names, each behind the run's prefix (empty on a private server).
//
//     ZSET  market:           members "ITEM.OWNER", scored by price
//     SET   inventory:USER    items
//     HASH  users:USER        field "funds"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tranca::bench {

/// All names of one market; made once, because a trade needs up to four of them.
class market_keys {
public:
    market_keys(const std::string& prefix, int users) : market_(prefix + "market:"), lock_prefix_(prefix + "lock:") {
        for (int user = 0; user < users; ++user) {
            inventories_.push_back(fmt::format("{}inventory:{}", prefix, user));
            accounts_.push_back(fmt::format("{}users:{}", prefix, user));
        }
    }

    [[nodiscard]] const std::string& market() const noexcept { return market_; }
    [[nodiscard]] const std::string& inventory(int user) const { return inventories_.at(index(user)); }
    [[nodiscard]] const std::string& account(int user) const { return accounts_.at(index(user)); }
    [[nodiscard]] const std::string& lock_prefix() const noexcept { return lock_prefix_; }

private:
    static std::size_t index(int user) noexcept { return static_cast<std::size_t>(user); }

    std::string market_;
    std::string lock_prefix_;
    std::vector<std::string> inventories_;
    std::vector<std::string> accounts_;
};

/// What a seller made: "SERIAL-MAKER", for instance "17-3", so that an auditor knows every item there must be.
struct item {
    std::uint64_t serial = 0;
    int maker = 0;

    [[nodiscard]] std::string name() const { return fmt::format("{}-{}", serial, maker); }
    /// The market's member for it.
    [[nodiscard]] std::string offered_by(int owner) const { return fmt::format("{}-{}.{}", serial, maker, owner); }
};

/// Splits "ITEM.OWNER" at its dot; the owner is -1 if that is not a number.
inline std::pair<std::string_view, int> split_member(std::string_view member) {
    const auto dot = member.rfind('.');
    int owner = -1;
    if (dot != std::string_view::npos) std::from_chars(member.data() + dot + 1, member.data() + member.size(), owner);
    return {member.substr(0, dot), owner};
}

}  // namespace tranca::bench
