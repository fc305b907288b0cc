#pragma once

// What one acquisition of several names holds where they lie in several Cluster slots: one script for each slot.
//
//     if (!tranca::slots_matter(*pool)) ... one script for all ...
//     return tranca::take_by_slot(core, deadline, stop);
//
// Promises:
// - Slots are taken in their order; when a later one is busy, the earlier ones are released before anything is waited for.
//   Whoever waits holds nothing, so there is no deadlock, and nobody sits on a lock that it cannot use. Two that keep taking
//   from one another pause for a random while.
// - The lease counts from before the first slot was asked. Extending, renewing and releasing send the scripts of all slots in
//   one write (to a Cluster: one for each node); the lease is lost when any of them is.
// - One fence for all names: slots that were given a smaller one are raised to the largest before the guard is returned.
// Does not promise a single step: others may find some of the names taken by an attempt that fails. When a renewal finds one
// slot lost, the others live on until the guard is released, or for a ttl.
// Costs: a round trip for each slot, and one more for the fence.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <tranca/guard.hpp>
#include <tranca/multi_lease.hpp>

namespace tranca {

/// Is it a Cluster, or has this server refused keys of several slots in one command? No I/O.
[[nodiscard]] bool slots_matter(connection_pool& pool);

/// True if that is what the failure says; remembered for slots_matter(). No I/O.
[[nodiscard]] bool tells_of_slots(connection_pool& pool, const error& failure);

/// One attempt, and then, until the deadline or a stop request, as many as it takes. nullopt: busy, or stopped. Throws as
/// try_now and wait_for.
[[nodiscard]] std::optional<guard> take_by_slot(const std::shared_ptr<const multi_core>& core,
                                                clock::time_point deadline, const std::stop_token& stop);

/// See the top of this file.
class slot_lease final : public lease {
public:
    explicit slot_lease(std::shared_ptr<const multi_core> core)
        : lease(core->pool, core->name, core->rules), core_(std::move(core)) {}

    [[nodiscard]] const script& release_script() const noexcept override { return scripts::release_multi(); }
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override;

    /// In a Cluster its slots may be those of several nodes.
    [[nodiscard]] bool renews_apart() const noexcept override { return pool().is_cluster(); }

    /// Gives these slots (by their place in by_slot) this fence; the script answers 1, or 0: not all ours any more.
    [[nodiscard]] repeatable_call raise_call(const std::vector<std::size_t>& slots, std::uint64_t fence) const;

    /// All of them have it now.
    void fenced_by(std::uint64_t fence) noexcept {
        fence_ = fence;
        pool().remember_fence(fence);
    }

private:
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override;

    std::shared_ptr<const multi_core> core_;
};

}  // namespace tranca
