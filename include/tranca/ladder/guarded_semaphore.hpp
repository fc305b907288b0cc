#pragma once

// Sixth rung: the fair semaphore, entered one at a time under a short-lived lock.
//
//     tranca::ladder::guarded_semaphore calls{redis, "semaphore:calls", 5, {.lease = {.ttl = 10s}}};
//     if (auto slot = calls.try_acquire()) call();
//
// Promises: exactly `limit` holders, however the steps of two clients interleave; a client that crashes while entering
// blocks the entrance for `helper_ttl`, no longer.
// Flaws: **a client paused for longer than `helper_ttl` in the middle of entering overruns the limit all the same**; two
// more round trips; the fair semaphore's linear cost; clocks still expire others. "Full" and "the entrance is busy" are told
// apart by try_enter() only.
// Cure: tranca::semaphore, which is one script.
// The lock is px_lock on "lock:" + name, the book's key; the rest are the fair semaphore's.
// Source: Redis in Action, section 6.3.4, listing 6.17.

#include <algorithm>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <variant>

#include <tranca/error.hpp>
#include <tranca/ladder/fair_semaphore.hpp>
#include <tranca/ladder/px_lock.hpp>

namespace tranca::ladder {

/// How a guarded semaphore behaves.
struct guarded_semaphore_options {
    lease_options lease{};           ///< Of a slot.
    milliseconds poll{1};            ///< The pause between attempts of a waiter.
    wall_clock now{};                ///< Empty: std::chrono::system_clock::now.
    milliseconds helper_ttl{1'000};  ///< Of the lock on the entrance.
    milliseconds helper_wait{10};    ///< How long one attempt waits for that lock, if its caller waits; the book's.
};

/// See the top of this file.
class guarded_semaphore : public polling<guarded_semaphore> {
public:
    /// Why an attempt got no slot.
    enum class refusal {
        full,           ///< All slots are held.
        entrance_busy,  ///< Others were entering for all of helper_wait; slots may be free.
    };

    /// Throws errc::invalid_argument for a bad name, limit or option. No I/O.
    guarded_semaphore(const client& redis, std::string_view name, std::int64_t limit,
                      guarded_semaphore_options options = {})
        : polling(redis, semaphore_key(name), options.poll),
          helper_(redis, name, {.prefix = "lock:", .lease = {.ttl = options.helper_ttl}, .poll = milliseconds{1}}),
          helper_wait_(options.helper_wait),
          slots_(redis, name, limit, {.lease = options.lease, .poll = options.poll, .now = std::move(options.now)}) {
        require_not_negative(options.helper_wait, "helper_wait");
    }

    /// One attempt, with the reason if it fails. Four round trips when there is room, five when it is full, and one per
    /// millisecond while the entrance is busy. Thread-safe. Throws error when Redis cannot be asked.
    [[nodiscard]] std::variant<guard, refusal> try_enter() const { return enter_before(clock::time_point::max(), {}); }

private:
    friend polling<guarded_semaphore>;

    [[nodiscard]] std::optional<guard> attempt() const { return attempt(clock::time_point::max(), {}); }

    [[nodiscard]] std::optional<guard> attempt(clock::time_point deadline, const std::stop_token& stop) const {
        auto outcome = enter_before(deadline, stop);
        if (auto* const slot = std::get_if<guard>(&outcome)) return std::move(*slot);
        return std::nullopt;
    }

    [[nodiscard]] std::variant<guard, refusal> enter_before(clock::time_point deadline,
                                                            const std::stop_token& stop) const {
        auto entrance = helper_.try_acquire_until(std::min(deadline, deadline_after(helper_wait_)), stop);
        if (!entrance) return refusal::entrance_busy;
        auto slot = slots_.try_acquire();
        entrance->release();
        if (!slot) return refusal::full;
        if (!*slot) give_back_late(*slot);
        return std::move(*slot);
    }

    // Giving the entrance back took all the time of the slot's lease.
    [[noreturn]] void give_back_late(guard& slot) const {
        const bool gone = slot.release() != release_result::unknown;
        throw error(errc::timeout,
                    "entering \"" + main_key().printable() + "\": the lease was over before the slot was used",
                    gone ? effect::none : effect::in_doubt);
    }

    px_lock helper_;
    milliseconds helper_wait_;
    fair_semaphore slots_;
};

}  // namespace tranca::ladder
