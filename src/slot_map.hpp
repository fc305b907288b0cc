#pragma once

// Which node of a Cluster serves which slot, as one of the nodes told it.
//
//     auto map = slot_map::read(redis.command(request{"CLUSTER", "SLOTS"}), asked);
//     const auto* const node = map.master_of(hash_slot("account:7"));       // nullptr: nobody serves it
//     map.learn_moved(3999, {"10.0.0.7", 6381});
//
// Promises: an answer that makes no sense is refused as a whole. A value; pure.
// Does not promise that the node told the truth of this moment.
// Source: Redis documentation, CLUSTER SLOTS.

#include <cstdint>
#include <vector>

#include <tranca/cluster_endpoint.hpp>
#include <tranca/redirection.hpp>
#include <tranca/reply.hpp>

namespace tranca {

class slot_map {
public:
    using address = cluster_endpoint::address;

    /// A node whose host is empty or unknown is at the host that was asked. Throws errc::protocol.
    [[nodiscard]] static slot_map read(const reply_view& answer, const address& asked);

    /// True if no slot has a node.
    [[nodiscard]] bool empty() const noexcept { return masters_.empty(); }

    /// nullptr: nobody serves this slot.
    [[nodiscard]] const address* master_of(unsigned slot) const noexcept;

    [[nodiscard]] const std::vector<address>& masters() const noexcept { return masters_; }
    [[nodiscard]] const std::vector<address>& replicas() const noexcept { return replicas_; }
    [[nodiscard]] bool has_master(const address& node) const noexcept;

    /// What a node said by MOVED. A slot that does not exist is not learnt.
    void learn_moved(unsigned slot, const address& to);

private:
    using number = std::uint16_t;  // of a node in masters_, from 1 up; 0: none

    [[nodiscard]] number number_of(const address& master);
    void read_range(const reply_view& range, const address& asked);

    std::vector<address> masters_;
    std::vector<address> replicas_;
    std::vector<number> owners_ = std::vector<number>(cluster_slots);
};

}  // namespace tranca
