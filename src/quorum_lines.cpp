#include "quorum_lines.hpp"

#include <exception>
#include <utility>

#include "fork_guard.hpp"

namespace tranca {

quorum_lines::quorum_lines(const std::vector<std::shared_ptr<connection_pool>>& pools)
    : generation_(fork_generation()) {
    lines_.reserve(pools.size());
    for (const auto& pool : pools) {
        lines_.push_back({.node = pool->companion<quorum_node>()});
        lines_.back().node->serve(pool->where());
    }
}

quorum_lines::~quorum_lines() { end(std::nullopt); }

bool take_connection(quorum_line& line) {
    auto taken = line.node->take();
    if (!taken) return false;
    line.redis = std::move(taken->redis);
    line.words = std::move(taken->words);
    line.since = taken->since;
    return true;
}

void drop_connection(quorum_line& line) noexcept {
    line.redis.reset();
    line.since.reset();
    if (!line.words.empty()) line.node->deliver(std::exchange(line.words, {}));
}

void quorum_lines::rest() noexcept {
    for (auto& line : lines_) {
        if (!line.redis || (line.redis->usable() && line.redis->awaited() > 0)) continue;
        if (line.redis->usable()) line.words.clear();
        line.node->give_back(std::move(*line.redis));
        drop_connection(line);
    }
}

void quorum_lines::end(const std::optional<last_word>& word) noexcept {
    if (generation_ != fork_generation()) return;
    rest();
    for (auto& line : lines_) {
        const bool is_due = word && line.held == hold::maybe;
        if (is_due) line.held = hold::settled;
        try {
            if (is_due) line.words.push_back(*word);
        } catch (const std::exception&) {
            // No memory: the ttl is the backstop.
        }
        if (line.redis) line.node->leave({std::move(*line.redis), std::exchange(line.words, {}), line.since});
        drop_connection(line);
    }
}

}  // namespace tranca
