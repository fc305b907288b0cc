#include "measure/duel.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "measure/median.hpp"

namespace tranca::bench {
namespace {

constexpr int cycles = 20;  // half a millisecond a block: shorter than a scheduler's time slice
constexpr int warm_up = 200;

struct pair {
    double baseline;
    double contender;
};

double lower_quartile(const std::vector<pair>& pairs, double pair::*side) {
    std::vector<double> values;
    for (const auto& one : pairs)
        values.push_back(one.*side);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

// Leaves out the pairs in which another process had the core for a while: on a quiet machine hardly any.
std::vector<pair> undisturbed(const std::vector<pair>& pairs) {
    constexpr double slack = 1.5;
    if (pairs.empty()) return {};
    const auto baseline = slack * lower_quartile(pairs, &pair::baseline);
    const auto contender = slack * lower_quartile(pairs, &pair::contender);
    std::vector<pair> kept;
    for (const auto& one : pairs) {
        if (one.baseline <= baseline && one.contender <= contender) kept.push_back(one);
    }
    return kept.empty() ? pairs : kept;
}

duel_result judge(const std::vector<pair>& pairs) {
    std::vector<double> baseline, contender, ratios;
    for (const auto& [one, other] : undisturbed(pairs)) {
        baseline.push_back(one);
        contender.push_back(other);
        ratios.push_back(other / one);
    }
    return {median_of(baseline), median_of(contender), median_of(ratios), static_cast<int>(ratios.size())};
}

}  // namespace

duel_result duel(const cycle& baseline, const cycle& contender, double seconds, const baton& signs) {
    static_cast<void>(time_block(baseline, warm_up));
    static_cast<void>(time_block(contender, warm_up));
    std::vector<pair> pairs;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end && !signs.stopped()) {
        const bool baseline_first = pairs.size() % 2 == 0;
        const auto first = time_block(baseline_first ? baseline : contender, cycles);
        const auto second = time_block(baseline_first ? contender : baseline, cycles);
        pairs.push_back(baseline_first ? pair{first, second} : pair{second, first});
    }
    return judge(pairs);
}

}  // namespace tranca::bench
