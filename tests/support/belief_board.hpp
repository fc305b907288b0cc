// belief_board: which of several processes believe to hold at the same moment.
//
//     shared_memory<belief_board> board;
//     const auto held = lock.acquire();
//     const auto many = board->enter(worker, held.safe_until());     // this one included; 0: no longer sure
//     board->leave(worker);                                          // before the release
//
// A belief is the end of its lease on the steady clock, which all processes of a machine share. It ends by itself, so a
// worker killed inside leaves nothing behind that could be counted wrongly; one whose lease has no end is cleared by
// whoever frees its lock. A count is exact: only beliefs that were all there at one moment are counted together.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tranca::testing {

class belief_board {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::size_t places = 64;

    explicit belief_board(std::size_t limit) : limit_(limit) {}

    /// Says that `worker` believes to hold until then. Returns how many believe now.
    std::size_t enter(std::size_t worker, clock::time_point until) {
        ends_.at(worker) = until.time_since_epoch().count();
        const auto count = count_now(until);
        if (count > 0) entries_.fetch_add(1);
        if (count > limit_) overruns_.fetch_add(1);
        return count;
    }

    void leave(std::size_t worker) { ends_.at(worker) = 0; }

    [[nodiscard]] std::uint64_t entries() const { return entries_; }
    [[nodiscard]] std::uint64_t overruns() const { return overruns_; }

private:
    using ends = std::array<clock::rep, places>;

    [[nodiscard]] ends look() const {
        ends seen{};
        for (std::size_t i = 0; i < places; ++i)
            seen[i] = ends_[i];
        return seen;
    }

    // Beliefs found twice, unchanged, were all there between the two looks; those whose end lies behind the second look
    // were in force then. An entry of the same worker anew has another end.
    [[nodiscard]] std::size_t count_now(clock::time_point own_end) const {
        const auto first = look();
        const auto second = look();
        const auto now = clock::now();
        if (now >= own_end) return 0;
        std::size_t count = 0;
        for (std::size_t i = 0; i < places; ++i)
            if (first[i] == second[i] && second[i] > now.time_since_epoch().count()) ++count;
        return count;
    }

    std::size_t limit_;
    std::array<std::atomic<clock::rep>, places> ends_{};
    std::atomic<std::uint64_t> entries_{0};
    std::atomic<std::uint64_t> overruns_{0};

    static_assert(std::atomic<clock::rep>::is_always_lock_free);
};

}  // namespace tranca::testing
