#include "slot_map.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <tranca/error.hpp>
#include <tranca/key.hpp>

namespace tranca {

namespace {

[[noreturn]] void refuse_map(std::string_view reason) {
    throw error(errc::protocol, fmt::format("CLUSTER SLOTS: {}", reason));
}

// [host, port, id, ...]
cluster_endpoint::address node_in(const reply_view& told, const cluster_endpoint::address& asked) {
    const auto host = told[0].is_nil() ? std::string_view{} : told[0].text();
    const auto port = told[1].integer();
    if (port < 1 || port > std::numeric_limits<std::uint16_t>::max()) refuse_map("a node has no port");
    const bool unknown = host.empty() || host == "?";
    return {unknown ? asked.host : std::string{host}, static_cast<std::uint16_t>(port)};
}

void add_once(std::vector<cluster_endpoint::address>& all, cluster_endpoint::address one) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

}  // namespace

slot_map slot_map::read(const reply_view& answer, const address& asked) {
    slot_map made;
    for (std::size_t i = 0; i < answer.size(); ++i)
        made.read_range(answer[i], asked);
    return made;
}

// [first slot, last slot, master, replica ...]
void slot_map::read_range(const reply_view& range, const address& asked) {
    if (range.size() < 3) refuse_map("a range without a node");
    const auto first = range[0].integer();
    const auto last = range[1].integer();
    if (first < 0 || last < first || last >= cluster_slots)
        refuse_map(fmt::format("no such slots: {}-{}", first, last));
    const auto owner = number_of(node_in(range[2], asked));
    std::fill(owners_.begin() + first, owners_.begin() + last + 1, owner);
    for (std::size_t i = 3; i < range.size(); ++i)
        add_once(replicas_, node_in(range[i], asked));
}

slot_map::number slot_map::number_of(const address& master) {
    const auto found = std::ranges::find(masters_, master);
    const auto place = static_cast<std::size_t>(found - masters_.begin());
    if (place >= cluster_slots) refuse_map("more nodes than slots");
    if (found == masters_.end()) masters_.push_back(master);
    return static_cast<number>(place + 1);
}

const cluster_endpoint::address* slot_map::master_of(unsigned slot) const noexcept {
    if (slot >= cluster_slots || owners_[slot] == 0) return nullptr;
    return &masters_[owners_[slot] - 1U];
}

bool slot_map::has_master(const address& node) const noexcept {
    return std::ranges::find(masters_, node) != masters_.end();
}

void slot_map::learn_moved(unsigned slot, const address& to) {
    if (slot < cluster_slots) owners_[slot] = number_of(to);
}

}  // namespace tranca
