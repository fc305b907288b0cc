#pragma once

// Several names at once, all or nothing, across processes and machines that share a Redis.
//
//     tranca::multi_mutex both{redis, {"account:7", "account:9"}};
//     tranca::guard held = both.acquire();           // in whatever order the names stand: no deadlock
//     tranca::fenced_write(redis, "account:7", *held.fence(), less);
//
// Promises:
// - One script takes all names or none, on the server's clock. A release frees every name that is still ours, also if
//   another one had lapsed; it answers `released` if all were ours.
// - Each name is what a tranca::mutex of that name and prefix is: the two exclude and wake each other, and mutex::inspect()
//   and find_locks() show who holds it.
// - One lease, one loss signal: extending and renewing set the time of all names or of none, and never create one. The guard is
//   lost as soon as one name is.
// - One fencing number for all of them, larger than every earlier one of each: every resource can check it.
// - Waiting is that of the mutex: asleep at the first name found busy, holding nothing; who is woken there and finds another
//   one busy hands the wake-up on.
// - An answer that was lost is asked for again with the same token: the same fence. Where one name has lapsed meanwhile, all
//   are taken anew, or, if it is another's by now, none.
// - On a Redis Cluster (by a redis-cluster:// URL; to another client told by its answer CROSSSLOT, once) names of several slots
//   are taken slot by slot, each at its node: slot_lease.hpp says in what order, and what that costs. A wait goes on while a node
//   is away. Names with one hash tag, "{bank}:7" and "{bank}:9", stay one step there too.
// Does not promise that it is not starved by those who want one of the names only: nothing is kept free for it.
// Does not promise what no lease can: see mutex.hpp on pauses, clock jumps of the server and asynchronous replicas.
// Does not promise order: it overtakes those who wait in line for one of its names (fairness::on), and these look again by
// themselves, once a slice. Threads of one process do not queue inside it.
// One round trip to acquire, one to release; the server's work grows with the names: three commands for each, both ways.
// The account needs what a mutex needs.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/helper_key.hpp>
#include <tranca/multi_lease.hpp>
#include <tranca/polling.hpp>
#include <tranca/slot_lease.hpp>
#include <tranca/waiting.hpp>

namespace tranca {

/// See the top of this file. Const, thread-safe, holds nothing itself. The four ways to acquire are those of every
/// primitive: acquire, try_acquire, try_acquire_for, try_acquire_until. Events and errors call it by its first name.
class multi_mutex : public polling<multi_mutex> {
public:
    /// The most names: the server does nothing else while it takes them.
    static constexpr std::size_t most_names = 100;

    /// A name given twice counts once. Throws errc::invalid_argument for no name, for more than most_names, or for a bad
    /// name or option. No I/O.
    multi_mutex(const client& redis, std::initializer_list<std::string_view> names, const multi_options& options = {})
        : multi_mutex(redis, keys_of(options.prefix, names), options, checked{}) {}
    multi_mutex(const client& redis, std::span<const std::string> names, const multi_options& options = {})
        : multi_mutex(redis, keys_of(options.prefix, names), options, checked{}) {}

    /// How many names. No I/O.
    [[nodiscard]] std::size_t size() const noexcept { return core_->all.size(); }

private:
    friend polling<multi_mutex>;

    struct checked {};

    // Before another attempt while the server is in a state that passes by itself.
    static constexpr milliseconds pause_after_refusal{10};

    multi_mutex(const client& redis, const std::vector<key>& names, const multi_options& options, checked)
        : polling(redis, names.front(), pause_after_refusal),
          core_(make_multi_core(pool(), names, most_names, options)) {}

    [[nodiscard]] static std::vector<key> keys_of(std::string_view prefix, const auto& names) {
        std::vector<key> keys;
        keys.reserve(names.size());
        for (const auto& name : names)
            keys.push_back(main_key_for(prefix, name));
        if (keys.empty()) throw error(errc::invalid_argument, "a lock on several names needs at least one name");
        return keys;
    }

    [[nodiscard]] std::optional<guard> attempt() const { return attempt(clock::time_point::min(), {}); }

    [[nodiscard]] std::optional<guard> attempt(clock::time_point deadline, const std::stop_token& stop) const {
        if (core_->by_slot.size() == 1 || !slots_matter(*pool())) {
            try {
                return take_at_once(deadline, stop);
            } catch (const error& failure) {
                if (!tells_of_slots(*pool(), failure)) throw;
            }
        }
        return take_by_slot(core_, deadline, stop);
    }

    [[nodiscard]] std::optional<guard> take_at_once(clock::time_point deadline, const std::stop_token& stop) const {
        const auto candidate = std::make_shared<multi_lease>(core_);
        return clock::now() >= deadline ? try_now(candidate) : wait_for(candidate, deadline, stop);
    }

    std::shared_ptr<const multi_core> core_;
};

}  // namespace tranca
