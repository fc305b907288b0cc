#include "interleave/board.hpp"

#include <algorithm>

namespace tranca::interleave {

namespace {

std::int64_t weight_of(const claim& what) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(what.slots.size()));
}

bool names_it(const claim& what, const std::string& name) {
    return std::find(what.names.begin(), what.names.end(), name) != what.names.end();
}

bool share_a_slot(const claim& one, const claim& other) {
    return std::any_of(one.slots.begin(), one.slots.end(), [&](std::int64_t slot) {
        return std::find(other.slots.begin(), other.slots.end(), slot) != other.slots.end();
    });
}

}  // namespace

void board::enter(std::size_t client, const claim& what) {
    for (const auto& name : what.names) {
        look_at_others(client, what, name);
        look_at_fence(client, what, name);
    }
    players_[client].held = what;
}

void board::look_at_others(std::size_t client, const claim& what, const std::string& name) {
    auto used = weight_of(what);
    for (std::size_t i = 0; i < players_.size(); ++i) {
        const auto& other = players_[i].held;
        if (i == client || !other || !names_it(*other, name)) continue;
        used += weight_of(*other);
        if (what.how == claim::mode::exclusive || other->how == claim::mode::exclusive)
            blame("two hold " + name + ", and one of them should be alone");
        if (share_a_slot(what, *other)) blame("two have the same slot of " + name);
    }
    if (what.how == claim::mode::counted && used > limit_)
        blame(std::to_string(used) + " hold " + name + ", and the limit is " + std::to_string(limit_));
}

void board::look_at_fence(std::size_t client, const claim& what, const std::string& name) {
    if (!what.fence) return;
    const auto known = players_[client].least.find(name);
    const auto least = known == players_[client].least.end() ? 0 : known->second;
    if (*what.fence < least || (*what.fence == least && what.how != claim::mode::shared))
        blame("the fence " + std::to_string(*what.fence) + " of " + name + " is not above " + std::to_string(least) +
              ", which was there before");
    auto& largest = entered_[name];
    largest = std::max(largest, *what.fence);
}

void board::clear() {
    for (auto& each : players_)
        each = {};
    entered_.clear();
    flaw_.reset();
}

}  // namespace tranca::interleave
