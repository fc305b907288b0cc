#include <tranca/key_group.hpp>

#include <algorithm>
#include <map>

#include <tranca/hash_slot.hpp>
#include <tranca/helper_key.hpp>

namespace tranca {

key_group::key_group(const std::vector<std::string>& locks) : keys_(locks) {
    keys_.reserve(4 * locks.size());
    for (const auto* const role : {"wake", "wait", "fence"})
        for (const auto& lock : locks)
            keys_.push_back(helper_key(lock, role));
}

std::vector<std::string> sorted_once(std::span<const key> names) {
    std::vector<std::string> sorted;
    sorted.reserve(names.size());
    for (const auto& name : names)
        sorted.emplace_back(name.bytes());
    std::ranges::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
}

std::vector<key_group> grouped_by_slot(const std::vector<std::string>& locks) {
    std::map<unsigned, std::vector<std::string>> by_slot;
    for (const auto& lock : locks)
        by_slot[hash_slot(lock)].push_back(lock);
    std::vector<key_group> groups;
    groups.reserve(by_slot.size());
    for (const auto& entry : by_slot)
        groups.emplace_back(entry.second);
    return groups;
}

}  // namespace tranca
