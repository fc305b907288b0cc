#pragma once

// Names that are locked in one step, and the keys of each, in the order in which the scripts take them.
//
//     tranca::key_group both{{"lock:account:7", "lock:account:9"}};
//     both.releasable();                   // the two locks, their two wake-ups, their two marks
//
// Promises: the keys of each name are those of a tranca::mutex of that name. A value that does not change; pure.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tranca/key.hpp>

namespace tranca {

/// See the top of this file.
class key_group {
public:
    /// Of these main keys, at least one.
    explicit key_group(const std::vector<std::string>& locks);

    /// How many names.
    [[nodiscard]] std::size_t size() const noexcept { return keys_.size() / 4; }

    [[nodiscard]] std::span<const std::string> locks() const noexcept { return first(1); }
    [[nodiscard]] std::span<const std::string> releasable() const noexcept { return first(3); }
    [[nodiscard]] std::span<const std::string> all() const noexcept { return keys_; }

    /// The list on which who waits for this name blocks.
    [[nodiscard]] std::string_view wake_list(std::size_t name) const { return keys_.at(size() + name); }

private:
    [[nodiscard]] std::span<const std::string> first(std::size_t kinds) const noexcept {
        return std::span{keys_}.first(kinds * size());
    }

    std::vector<std::string> keys_;  // locks, wakes, marks, fences
};

/// The names without those given twice, in the order of their bytes. Pure.
[[nodiscard]] std::vector<std::string> sorted_once(std::span<const key> names);

/// One group for each Cluster slot, by slot, and within it as they came. Pure.
[[nodiscard]] std::vector<key_group> grouped_by_slot(const std::vector<std::string>& locks);

}  // namespace tranca
