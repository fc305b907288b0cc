// board: what the clients of a schedule believe to hold, and whether they may.
//
//     board beliefs{clients, limit};
//     beliefs.enter(0, {"thing", claim::mode::exclusive, guard.fence()});
//     if (beliefs.flaw()) ...                          // the first rule that was broken, in words
//
// Rules: an exclusive holder is alone; of the others there are no more than the limit; no two have the same slot; a fence is
// larger than those of all who had entered before its own acquire began (readers may share one).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tranca::interleave {

struct claim {
    enum class mode { exclusive, counted, shared };  // counted: against the limit; shared: without one

    std::vector<std::string> names;
    mode how{mode::exclusive};
    std::optional<std::uint64_t> fence{};
    std::vector<std::int64_t> slots{};
};

class board {
public:
    board(std::size_t clients, std::int64_t limit) : limit_(limit), players_(clients) {}

    // What this client acquires from now on began after everything that has been entered so far.
    void begin(std::size_t client) { players_[client].least = entered_; }

    void enter(std::size_t client, const claim& what);
    void leave(std::size_t client) { players_[client].held.reset(); }
    [[nodiscard]] bool holds(std::size_t client) const { return players_[client].held.has_value(); }

    void blame(const std::string& flaw) {
        if (!flaw_) flaw_ = flaw;
    }
    [[nodiscard]] const std::optional<std::string>& flaw() const { return flaw_; }
    void clear();

private:
    using fences = std::map<std::string, std::uint64_t>;  // the largest, by name
    struct player {
        std::optional<claim> held;
        fences least;
    };

    void look_at_others(std::size_t client, const claim& what, const std::string& name);
    void look_at_fence(std::size_t client, const claim& what, const std::string& name);

    std::int64_t limit_;
    std::vector<player> players_;
    fences entered_;
    std::optional<std::string> flaw_;
};

}  // namespace tranca::interleave
