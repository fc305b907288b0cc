#pragma once

// Where the threads of one process queue for one name, so that only the first of them talks to Redis.
//
//     auto gate  = gate_of(*pool, name, kind);
//     auto entry = gate->enter(deadline, stop, closing);
//     if (entry.turn) { gate_turn turn{*gate}; ... ask Redis; turn.won(granted lease) ... }
//     if (entry.handed) return guard{entry.handed};      // a thread of this process passed its lock on
//
// Promises: first come, first served; while a lease of this process holds, the others wait here without a byte on the wire;
// the lock is passed on at most `handoff_limit` times in a row, or for `handoff_time` if that is more, then other processes get
// their turn: for what takes an instant, asking Redis every 64 times would cost a quarter of it all.
// Does not promise that a holder whose lease was lost keeps the others out: once it does not hold, the next one asks Redis.
// Thread safety: full. In a child after fork() it is not to be used: ask gate_of() again.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include <tranca/connection_pool.hpp>
#include <tranca/key.hpp>
#include <tranca/lease.hpp>
#include <tranca/time.hpp>

namespace tranca {

class gate {
public:
    /// How often in a row a lock is passed on inside a process; or else for how long, and how often then.
    static constexpr unsigned handoff_limit = 64;
    static constexpr milliseconds handoff_time{1};
    static constexpr unsigned most_handoffs = 256;

    gate();
    gate(const gate&) = delete;
    gate& operator=(const gate&) = delete;

    /// What came of queueing: the turn to ask Redis, a lease handed over, or neither (time over, or stopped).
    struct entry {
        bool turn = false;
        std::shared_ptr<lease> handed{};
    };

    /// Queues until the deadline; one that has passed: does not queue.
    [[nodiscard]] entry enter(clock::time_point deadline, const std::stop_token& stop, const std::stop_token& closing);

    /// Gives the turn back: with the lease that was won, or without.
    void leave(const std::shared_ptr<lease>& won) noexcept;

    /// For a holder that would release: hands what `make_next` makes to the first in the queue. False: nobody waits, or it
    /// is time for other processes.
    [[nodiscard]] bool pass_on(const lease& holder, const std::function<std::shared_ptr<lease>()>& make_next);

    /// Does anybody queue here?
    [[nodiscard]] bool crowded() noexcept;

    /// The holder holds nothing any more.
    void end(const lease& holder) noexcept;

    /// True in a child of the process that made it.
    [[nodiscard]] bool inherited() const noexcept;

private:
    struct place {  // shared with whoever wakes it, who does so with nothing locked
        entry got{};
        std::condition_variable wakes{};
    };

    [[nodiscard]] bool is_held() const noexcept;
    void watch_holder() const noexcept;
    void entrust(const std::shared_ptr<lease>& next) noexcept;
    [[nodiscard]] bool may_pass_on() const noexcept;
    [[nodiscard]] std::shared_ptr<place> advance() noexcept;
    static void wake(const std::shared_ptr<place>& whose) noexcept;

    std::uint64_t generation_;
    std::mutex mutex_;
    std::deque<std::shared_ptr<place>> queue_;
    bool turn_taken_ = false;
    std::weak_ptr<lease> holder_;
    const lease* holder_address_ = nullptr;
    unsigned handoffs_ = 0;
    clock::time_point won_at_{};
};

/// The turn that enter() gave; given back in any case.
class gate_turn {
public:
    explicit gate_turn(gate& queue) noexcept : queue_(queue) {}
    gate_turn(const gate_turn&) = delete;
    gate_turn& operator=(const gate_turn&) = delete;
    ~gate_turn() { queue_.leave(won_); }

    /// It was of use: this is held now.
    void won(std::shared_ptr<lease> held) noexcept { won_ = std::move(held); }

private:
    gate& queue_;
    std::shared_ptr<lease> won_;
};

/// The gate in this process of a name and a kind of lease, of which a holder may hand on its own; made on first need.
[[nodiscard]] std::shared_ptr<gate> gate_of(connection_pool& pool, const key& name, std::string_view kind);

}  // namespace tranca
