#include "market/audit.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

#include "market/stock.hpp"

namespace tranca::bench {
namespace {

constexpr long long page = 50'000;  // members of the market read at once

class auditor {
public:
    auditor(wire& redis, const market_keys& keys, const cell& setting, std::span<const ledger> ledgers)
        : redis_(redis), keys_(keys), setting_(setting), ledgers_(ledgers) {
        for (const auto& book : ledgers_)
            seen_.emplace_back(book.made, false);
    }

    std::vector<std::string> run() {
        check_funds();
        check_market();
        for (int user = 0; user < setting_.users(); ++user)
            check_inventory(user);
        check_nothing_is_missing();
        return std::move(violations_);
    }

private:
    template <class... Values>
    void violated(fmt::format_string<Values...> text, Values&&... values) {
        // A broken market would break a thousand times: the first few tell the story.
        if (violations_.size() < 10) violations_.push_back(fmt::format(text, std::forward<Values>(values)...));
    }

    void check_funds() {
        long long sum = 0;
        for (int user = 0; user < setting_.users(); ++user) {
            const auto funds = std::stoll(std::string(redis_.ask("HGET", keys_.account(user), "funds").text()));
            if (funds < 0) violated("user {} has a negative balance: {}", user, funds);
            sum += funds;
        }
        const auto brought = buyers_money * setting_.buyers;
        if (sum != brought) violated("the funds add up to {}, not to {}", sum, brought);
    }

    void check_market() {
        std::uint64_t listed = static_cast<std::uint64_t>(opening_stock), bought = 0, found = 0;
        for (const auto& book : ledgers_) {
            listed += book.listed;
            bought += book.bought;
        }
        for (long long first = 0;; first += page) {
            const auto members = redis_.ask("ZRANGE", keys_.market(), first, first + page - 1);
            for (std::size_t i = 0; i < members.size(); ++i)
                note(split_member(members.text(i)).first, "the market");
            found += members.size();
            if (members.size() == 0) break;
        }
        if (found + bought != listed) {
            violated("{} items on the market, but {} were listed and {} bought", found, listed, bought);
        }
    }

    void check_inventory(int user) {
        const auto items = redis_.ask("SMEMBERS", keys_.inventory(user));
        const auto where = keys_.inventory(user);
        for (std::size_t i = 0; i < items.size(); ++i)
            note(items.text(i), where);
        if (!setting_.sells(user) && items.size() != ledgers_[static_cast<std::size_t>(user)].bought) {
            violated("user {} owns {} items, but counted {} purchases", user, items.size(),
                     ledgers_[static_cast<std::size_t>(user)].bought);
        }
    }

    // "SERIAL-MAKER": must have been made, and not have been seen elsewhere.
    void note(std::string_view name, std::string_view where) {
        std::uint64_t serial = 0;
        std::size_t maker = 0;
        const auto* end = name.data() + name.size();
        const auto after = std::from_chars(name.data(), end, serial);
        const bool read =
            after.ec == std::errc() && after.ptr != end && std::from_chars(after.ptr + 1, end, maker).ptr == end;
        if (!read || maker >= seen_.size() || serial >= seen_[maker].size()) {
            return violated("{} in {} was never made", name, where);
        }
        if (seen_[maker][serial]) violated("{} in {} stands somewhere else as well", name, where);
        seen_[maker][serial] = true;
    }

    void check_nothing_is_missing() {
        for (std::size_t maker = 0; maker < seen_.size(); ++maker) {
            for (std::size_t serial = 0; serial < seen_[maker].size(); ++serial) {
                if (!seen_[maker][serial]) violated("{}-{} is nowhere", serial, maker);
            }
        }
    }

    wire& redis_;
    const market_keys& keys_;
    const cell& setting_;
    std::span<const ledger> ledgers_;
    std::vector<std::vector<bool>> seen_;  // by maker and serial
    std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> audit_market(wire& redis, const market_keys& keys, const cell& setting,
                                      std::span<const ledger> ledgers) {
    return auditor(redis, keys, setting, ledgers).run();
}

}  // namespace tranca::bench
