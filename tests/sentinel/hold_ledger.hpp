// hold_ledger: who held when, by which fence, written by several processes and read when they have ended.
//
//     shared_memory<hold_ledger> ledger;
//     ledger->add({.asked = asked, .first = first, .last = last, .fence = *held.fence()});     // at the end of a hold
//     EXPECT_EQ(ledger->overlaps(), 0u);
//
// A hold is counted from the first to the last moment at which its guard was seen to say yes, so that two that are counted as
// overlapping did overlap. Moments are of the steady clock, which all processes of a machine share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tranca/time.hpp>

namespace tranca::sentinel_test {

struct hold {
    clock::time_point asked{};  // before its acquire began
    clock::time_point first{};
    clock::time_point last{};
    std::uint64_t fence = 0;
    std::size_t worker = 0;
};

class hold_ledger {
public:
    static constexpr std::size_t most = 1U << 15U;

    void add(const hold& ended) {
        const auto place = count_.fetch_add(1);
        if (place < most) holds_[place] = ended;
    }

    [[nodiscard]] std::size_t size() const { return std::min(count_.load(), most); }
    [[nodiscard]] bool is_full() const { return count_ > most; }

    /// Pairs that believed to hold at the same moment.
    [[nodiscard]] std::size_t overlaps() const {
        const auto holds = by(&hold::first);
        std::size_t pairs = 0;
        for (auto one = holds.begin(); one != holds.end(); ++one)
            for (auto other = one + 1; other != holds.end() && other->first <= one->last; ++other)
                ++pairs;
        return pairs;
    }

    [[nodiscard]] bool has_a_fence_twice() const {
        const auto holds = by(&hold::fence);
        return std::ranges::adjacent_find(holds, {}, &hold::fence) != holds.end();
    }

    /// Those whose fence is not larger than that of every hold that had begun before they asked, whichever server granted it.
    [[nodiscard]] std::size_t fences_out_of_order() const {
        const auto begun = by(&hold::first);
        const auto asking = by(&hold::asked);
        std::size_t found = 0;
        std::uint64_t largest = 0;
        auto earlier = begun.begin();
        for (const auto& one : asking) {
            for (; earlier != begun.end() && earlier->first < one.asked; ++earlier)
                largest = std::max(largest, earlier->fence);
            if (one.fence <= largest) ++found;
        }
        return found;
    }

private:
    template <class Member>
    [[nodiscard]] std::vector<hold> by(Member member) const {
        const auto written = std::span{holds_}.first(size());
        std::vector<hold> sorted{written.begin(), written.end()};
        std::ranges::sort(sorted, {}, member);
        return sorted;
    }

    std::array<hold, most> holds_{};
    std::atomic<std::size_t> count_{0};

    static_assert(std::atomic<std::size_t>::is_always_lock_free);
};

}  // namespace tranca::sentinel_test
