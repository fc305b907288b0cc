#include "market/market_claims.hpp"

#include "report/numbers.hpp"

namespace tranca::bench {
namespace {

claim no_retries(std::uint64_t retries, std::uint64_t bought) {
    return {"with locks no purchase is retried", retries == 0 && bought > 0,
            fmt::format("{} retries in {} purchases", with_commas(retries), with_commas(bought))};
}

claim fine_outsells(const cell_result& fine, const cell_result& lock) {
    constexpr double wanted = 3.0;
    const auto ratio = lock.total.bought == 0 ? 0.0 : sold_per_second(fine) / sold_per_second(lock);
    return {"at 5/5 a lock an item sells at least 3 times what one lock for the market sells", ratio >= wanted,
            fmt::format("{:.2f} times: {:.0f} against {:.0f} a second", ratio, sold_per_second(fine),
                        sold_per_second(lock))};
}

}  // namespace

std::vector<claim> market_claims(const results& measured) {
    std::vector<claim> claims;
    std::uint64_t retries = 0, bought = 0;
    bool locked = false;
    for (const auto& one : measured) {
        if (one.setting.how != mode::lock && one.setting.how != mode::fine) continue;
        locked = true;
        retries += one.total.retries;
        bought += one.total.bought;
    }
    if (locked) claims.push_back(no_retries(retries, bought));
    const auto* fine = find(measured, {5, 5}, mode::fine);
    const auto* lock = find(measured, {5, 5}, mode::lock);
    if (fine != nullptr && lock != nullptr) claims.push_back(fine_outsells(*fine, *lock));
    return claims;
}

}  // namespace tranca::bench
