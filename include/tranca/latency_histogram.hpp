#pragma once

// How long things took, counted in buckets: a few kilobytes for any number of durations, from nanoseconds to centuries.
//
//     tranca::latency_histogram waits;
//     waits.add(350us);                        // from any thread, without a lock
//     auto slow = waits.quantile(0.99);        // 99 of 100 took no longer than this
//
// Each power of two of nanoseconds has eight buckets, and a duration counts as the longest one of its bucket.
// Promises: quantile() never says less than the truth, and more by less than an eighth (12.5 %); count() is exact, and
// sum() up to 104 days; no addition is lost, and neither of the two ever goes down. Nothing allocates but cumulative().
// Does not promise one moment: a reader beside writers may find a duration in count() that is not yet in sum().
// Thread safety: full; adding is a few relaxed atomic additions.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tranca {

/// See the top of this file.
class latency_histogram {
public:
    latency_histogram() = default;
    latency_histogram(const latency_histogram&) = delete;
    latency_histogram& operator=(const latency_histogram&) = delete;

    /// Counts one duration; a negative one counts as zero. Wait-free.
    void add(std::chrono::nanoseconds duration) noexcept {
        const auto value = duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count());
        counts_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
        low_sum_.fetch_add(value % high_unit, std::memory_order_relaxed);
        if (value >= high_unit) high_sum_.fetch_add(value / high_unit, std::memory_order_relaxed);
    }

    /// How many durations were added.
    [[nodiscard]] std::uint64_t count() const noexcept {
        const auto counts = read();
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    }

    /// What all of them make together, as added and not as their buckets say. Beyond 2^53 ns (104 days) it is rounded.
    [[nodiscard]] std::chrono::duration<double, std::nano> sum() const noexcept {
        const auto high = static_cast<double>(high_sum_.load(std::memory_order_relaxed));
        const auto low = static_cast<double>(low_sum_.load(std::memory_order_relaxed));
        return std::chrono::duration<double, std::nano>{high * static_cast<double>(high_unit) + low};
    }

    /// What `portion` of all durations did not exceed: 0.5 is the median, 1 the longest, 0 the shortest. Zero if there
    /// are none; a portion outside 0..1 counts as the nearer of the two.
    [[nodiscard]] std::chrono::nanoseconds quantile(double portion) const noexcept {
        const auto counts = read();
        const auto rank = rank_of(portion, std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
        std::uint64_t passed = 0;
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
            passed += counts[bucket];
            if (passed >= rank && passed > 0) return longest_of(bucket);
        }
        return std::chrono::nanoseconds::zero();
    }

    /// For each bound how many durations do not exceed it, then how many there are, all of one reading. A duration
    /// within an eighth below a bound may count as longer, never the other way round.
    [[nodiscard]] std::vector<std::uint64_t> cumulative(std::span<const std::chrono::nanoseconds> bounds) const {
        auto counts = read();
        std::partial_sum(counts.begin(), counts.end(), counts.begin());
        std::vector<std::uint64_t> result;
        result.reserve(bounds.size() + 1);
        for (const auto bound : bounds) {
            // The buckets before the one of `bound + 1` end at the bound or earlier.
            const auto whole = bound.count() < 0 ? 0 : bucket_of(static_cast<std::uint64_t>(bound.count()) + 1);
            result.push_back(whole == 0 ? 0 : counts[whole - 1]);
        }
        result.push_back(counts.back());
        return result;
    }

private:
    static constexpr std::size_t bucket_count = 488;
    // The sum in two parts, about milliseconds and the rest: one number of nanoseconds would wrap after 584 years,
    // which is little where a thousand threads wait.
    static constexpr std::uint64_t high_unit = 1U << 20U;

    // 0 to 7 have a bucket each; from there the three bits after the leading one choose among eight.
    [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        if (value < 8) return static_cast<std::size_t>(value);
        const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 4;
        return 8 * shift + static_cast<std::size_t>(value >> shift);
    }

    [[nodiscard]] static constexpr std::chrono::nanoseconds longest_of(std::size_t bucket) noexcept {
        const auto shift = bucket < 8 ? 0 : bucket / 8 - 1;
        const auto end = (std::uint64_t{bucket - 8 * shift} + 1) << shift;
        return std::chrono::nanoseconds{static_cast<std::chrono::nanoseconds::rep>(end - 1)};
    }

    [[nodiscard]] static std::uint64_t rank_of(double portion, std::uint64_t total) noexcept {
        if (portion >= 1) return total;
        if (!(portion > 0)) return 1;
        // 7 of 100 are 0.07, although 0.07 * 100 is a little more than 7.
        return static_cast<std::uint64_t>(std::ceil(portion * static_cast<double>(total) * (1 - 1e-12)));
    }

    [[nodiscard]] std::array<std::uint64_t, bucket_count> read() const noexcept {
        std::array<std::uint64_t, bucket_count> counts{};
        std::transform(counts_.begin(), counts_.end(), counts.begin(),
                       [](const auto& count) { return count.load(std::memory_order_relaxed); });
        return counts;
    }

    std::array<std::atomic<std::uint64_t>, bucket_count> counts_{};
    std::atomic<std::uint64_t> low_sum_{0};
    std::atomic<std::uint64_t> high_sum_{0};
};

}  // namespace tranca
