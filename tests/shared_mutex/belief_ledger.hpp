// belief_ledger: which of several processes believe to read and which to write at the same moment.
//
//     shared_memory<belief_ledger> ledger;
//     ledger->enter(worker, lock_mode::shared, held.safe_until());
//     ledger->leave(worker);                                      // before the release
//
// As belief_board: a belief is the end of a lease on the steady clock, which all processes of a machine share, so that a
// worker killed inside leaves nothing that could be counted wrongly; beliefs are counted together only if they were all
// there at one moment.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tranca/shared_lease.hpp>

namespace tranca::shared_mutex_test {

class belief_ledger {
public:
    static constexpr std::size_t places = 16;

    /// Says that `worker` believes to hold until then.
    void enter(std::size_t worker, lock_mode mode, clock::time_point until) {
        const bool writes = mode == lock_mode::exclusive;
        beliefs_.at(worker) = 2 * until.time_since_epoch().count() + (writes ? 1 : 0);
        const auto first = look();
        const auto second = look();
        const auto now = clock::now();
        if (now >= until) return;
        (writes ? written_ : read_).fetch_add(1);
        std::size_t others = 0;
        for (std::size_t i = 0; i < places; ++i) {
            if (i == worker || first[i] != second[i] || second[i] / 2 <= now.time_since_epoch().count()) continue;
            ++others;
            if (writes || second[i] % 2 == 1) overruns_.fetch_add(1);
        }
        if (others > 0) shared_.fetch_add(1);
    }

    void leave(std::size_t worker) { beliefs_.at(worker) = 0; }

    [[nodiscard]] std::uint64_t read() const { return read_; }
    [[nodiscard]] std::uint64_t written() const { return written_; }
    [[nodiscard]] std::uint64_t shared() const { return shared_; }      // entered beside another
    [[nodiscard]] std::uint64_t overruns() const { return overruns_; }  // ... where one of the two was a writer

private:
    using beliefs = std::array<std::int64_t, places>;

    [[nodiscard]] beliefs look() const {
        beliefs seen{};
        for (std::size_t i = 0; i < places; ++i)
            seen[i] = beliefs_[i];
        return seen;
    }

    std::array<std::atomic<std::int64_t>, places> beliefs_{};
    std::atomic<std::uint64_t> read_{0};
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> shared_{0};
    std::atomic<std::uint64_t> overruns_{0};

    static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};

}  // namespace tranca::shared_mutex_test
