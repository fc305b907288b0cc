#pragma once

// A log-linear histogram of non-negative integers (here: nanoseconds), small enough to live in shared memory.
//
//     histogram waits;
//     waits.record(1'250);
//     waits.quantile(0.99);
//
// Promises: every value up to 2^64 - 1 is counted; a quantile is off by at most 1/64 of itself; the mean is exact
// until the sum overflows. No pointers and no allocation, so one process may write and another read it after the
// writer has ended. Does not promise: safety for two writers at once - each worker has its own and they are merged.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tranca::bench {

class histogram {
public:
    void record(std::uint64_t value) noexcept {
        ++counts_[index_of(value)];
        ++count_;
        sum_ += value;
    }

    void merge(const histogram& other) noexcept {
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            counts_[i] += other.counts_[i];
        }
        count_ += other.count_;
        sum_ += other.sum_;
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

    // 0 when nothing was recorded.
    [[nodiscard]] double mean() const noexcept {
        return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
    }

    // The middle of the bucket that holds the value of rank ceil(q * count); 0 when nothing was recorded.
    [[nodiscard]] double quantile(double q) const noexcept {
        const auto wanted = rank_of(q);
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen >= wanted && seen > 0) {
                return middle_of(i);
            }
        }
        return 0.0;
    }

private:
    // Values below 2 * sub_buckets have a bucket each; every further power of two is cut into sub_buckets.
    static constexpr std::size_t sub_bits = 6;
    static constexpr std::size_t sub_buckets = std::size_t{1} << sub_bits;
    static constexpr std::size_t bucket_count = (64 - sub_bits + 1) * sub_buckets;

    static constexpr std::size_t index_of(std::uint64_t value) noexcept {
        if (value < sub_buckets) {
            return static_cast<std::size_t>(value);
        }
        const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 1 - sub_bits;
        return shift * sub_buckets + static_cast<std::size_t>(value >> shift);
    }

    static constexpr double middle_of(std::size_t index) noexcept {
        if (index < 2 * sub_buckets) {
            return static_cast<double>(index);
        }
        const auto shift = index / sub_buckets - 1;
        const auto width = static_cast<double>(std::uint64_t{1} << shift);
        return (static_cast<double>(index - shift * sub_buckets) + 0.5) * width;
    }

    [[nodiscard]] std::uint64_t rank_of(double q) const noexcept {
        const auto exact = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_);
        const auto floor = static_cast<std::uint64_t>(exact);
        return std::max<std::uint64_t>(1, static_cast<double>(floor) < exact ? floor + 1 : floor);
    }

    std::array<std::uint64_t, bucket_count> counts_{};
    std::uint64_t count_{0};
    std::uint64_t sum_{0};
};

}  // namespace tranca::bench
