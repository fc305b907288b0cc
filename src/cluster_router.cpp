#include "cluster_router.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <tranca/request.hpp>

namespace tranca {

namespace {

using node_address = cluster_endpoint::address;

// Nodes take longer than this to agree on anything new.
constexpr milliseconds pause_between_maps{50};

bool is_in(const std::vector<node_address>& some, const node_address& one) {
    return std::ranges::find(some, one) != some.end();
}

// Said by all nodes alike, or by none: it does not pass by asking another one.
bool is_settled(errc reason) noexcept {
    switch (reason) {
    case errc::connect_failed:
    case errc::connection_lost:
    case errc::timeout:
    case errc::protocol: return false;
    default: return !is_temporary(reason);
    }
}

}  // namespace

// One round of questions.
class cluster_router::search {
public:
    search(const cluster_endpoint& where, std::optional<connection>& line) : where_(where), line_(line) {}

    /// The map of the first node that tells one.
    [[nodiscard]] slot_map run(const std::vector<address>& nodes) {
        for (const auto& node : nodes) {
            auto map = ask(node);
            if (!map) continue;
            told_by_ = node;
            return std::move(*map);
        }
        throw error(reason_, fmt::format("asking for the slots of {}: {}", where_.printable(), notes_));
    }

    [[nodiscard]] const address& told_by() const noexcept { return told_by_; }

private:
    [[nodiscard]] std::optional<slot_map> ask(const address& node) {
        try {
            const auto where = where_.reach(node);
            const auto deadline = deadline_after(std::min(where.connect_timeout, where.command_timeout));
            if (!line_ || line_->stale() || address_of(line_->where()) != node) line_.emplace(where);
            auto map = slot_map::read(line_->command(request{"CLUSTER", "SLOTS"}, deadline), node);
            if (!map.empty()) return map;
            note(errc::cluster_down, fmt::format("{} knows of no slots", printable(node)));
        } catch (const error& failure) {
            line_.reset();
            const bool alone = failure.text().find("cluster support disabled") != std::string::npos;
            note(failure.reason(), alone
                                       ? fmt::format("{} is no node of a Cluster ({})", printable(node), failure.text())
                                       : failure.text());
        }
        return std::nullopt;
    }

    // What nodes say tells more than that others do not answer.
    void note(errc reason, std::string_view text) {
        if (!is_settled(reason_) && (is_settled(reason) || is_temporary(reason))) reason_ = reason;
        notes_.append(notes_.empty() ? "" : "; ").append(text);
    }

    const cluster_endpoint& where_;
    std::optional<connection>& line_;
    address told_by_{};
    errc reason_ = errc::connect_failed;
    std::string notes_;
};

cluster_router::cluster_router(const cluster_endpoint& where) : where_(where) {}

cluster_endpoint::address cluster_router::node_of(unsigned slot) {
    refresh_if_due();
    const std::lock_guard lock{mutex_};
    if (const auto* const found = map_.master_of(slot)) return *found;
    sure_ = false;
    throw error(errc::cluster_down, fmt::format("no node of {} serves slot {}", where_.printable(), slot));
}

std::vector<cluster_endpoint::address> cluster_router::masters() {
    refresh_if_due();
    const std::lock_guard lock{mutex_};
    return map_.masters();
}

std::optional<cluster_endpoint::address> cluster_router::known(unsigned slot) const {
    const std::lock_guard lock{mutex_};
    const auto* const found = map_.master_of(slot);
    return found == nullptr ? std::nullopt : std::optional{*found};
}

bool cluster_router::leads_to_master(const endpoint& where, unsigned slot) const noexcept {
    const std::lock_guard lock{mutex_};
    const auto* const found = map_.master_of(slot);
    return found != nullptr && found->port == where.port && found->host == where.host;
}

bool cluster_router::is_master(const address& node) const noexcept {
    const std::lock_guard lock{mutex_};
    return map_.has_master(node);
}

void cluster_router::refresh_if_due() {
    if (!wait_or_begin()) return;
    search round{where_, line_};
    try {
        std::unique_lock lock{mutex_};
        const auto nodes = nodes_to_ask();
        lock.unlock();
        auto map = round.run(nodes);
        replace(std::move(map), round.told_by());
    } catch (const error& failure) {
        fail(failure);
    } catch (const std::exception& failure) {
        fail(error{errc::connect_failed, failure.what()});
    }
    const std::lock_guard lock{mutex_};
    if (map_.empty() && failure_) throw *failure_;
}

// True: this thread is to ask. Throws what another one was told, where nothing is known.
bool cluster_router::wait_or_begin() {
    std::unique_lock lock{mutex_};
    while (map_.empty() && asking_) {
        asked_.wait(lock, [&] { return !asking_; });
        if (map_.empty() && failure_) throw *failure_;
    }
    if (sure_ || asking_) return false;
    if (ended_ != clock::time_point::min() && clock::now() < ended_ + pause_between_maps) {
        if (map_.empty() && failure_) throw *failure_;
        return false;
    }
    asking_ = true;
    return true;
}

// Replicas know as much as their masters. The doubted come last, and seeds are what is left when all have moved.
std::vector<cluster_endpoint::address> cluster_router::nodes_to_ask() const {
    std::vector<address> nodes;
    std::vector<address> last;
    const auto add = [&](const address& one) {
        auto& list = is_in(doubted_, one) ? last : nodes;
        if (!is_in(list, one)) list.push_back(one);
    };
    if (best_informed_) add(*best_informed_);
    for (const auto* const some : {&map_.masters(), &map_.replicas(), &where_.seeds})
        std::ranges::for_each(*some, add);
    nodes.insert(nodes.end(), last.begin(), last.end());
    return nodes;
}

void cluster_router::replace(slot_map map, const address& told_by) {
    const std::lock_guard lock{mutex_};
    map_ = std::move(map);
    version_.fetch_add(1, std::memory_order_relaxed);
    best_informed_ = told_by;
    doubted_.clear();
    failure_.reset();
    sure_ = true;
    asking_ = false;
    ended_ = clock::now();
    asked_.notify_all();
}

void cluster_router::fail(const error& failure) noexcept {
    const std::lock_guard lock{mutex_};
    failure_ = failure;
    asking_ = false;
    ended_ = clock::now();
    asked_.notify_all();
}

void cluster_router::learn(const redirection& moved) {
    const std::lock_guard lock{mutex_};
    if (map_.empty()) return;  // the first map has still to come
    map_.learn_moved(moved.slot, moved.to);
    best_informed_ = moved.to;
    sure_ = false;  // most often it is not the only one
}

void cluster_router::doubt(const address& node) noexcept {
    const std::lock_guard lock{mutex_};
    sure_ = false;
    try {
        if (!is_in(doubted_, node)) doubted_.push_back(node);
    } catch (const std::exception&) {
        // No memory: then it is asked in its turn.
    }
}

void cluster_router::doubt() noexcept {
    const std::lock_guard lock{mutex_};
    sure_ = false;
}

bool cluster_router::checked(const address& node, unsigned index) const noexcept {
    const std::lock_guard lock{mutex_};
    const auto found = checked_.find(node);
    return found != checked_.end() && (found->second >> index & 1U) != 0;
}

void cluster_router::set_checked(const address& node, unsigned index) {
    const std::lock_guard lock{mutex_};
    checked_[node] |= std::uint64_t{1} << index;
}

cluster_endpoint::address address_of(const endpoint& where) { return {where.host, where.port}; }

}  // namespace tranca
