#include <tranca/slot_lease.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>

#include <fmt/format.h>

#include <tranca/attempt.hpp>
#include <tranca/pause.hpp>
#include <tranca/waiting.hpp>

namespace tranca {

namespace {

constexpr int longest_pause_us = 20'000;

// For a release that others wait for while one of the nodes is away, and before that one is tried again.
constexpr milliseconds patience_with_nodes{100};
constexpr milliseconds pause_while_nodes_are_away{20};

struct slot_knowledge {
    std::atomic<bool> matters{false};
};

// Several calls as one operation.
template <class Range, class MakeCall>
repeatable_call all_of(const Range& parts, MakeCall&& make_call) {
    auto next = parts.begin();
    repeatable_call made = make_call(*next);
    while (++next != parts.end())
        made.also.push_back(make_call(*next));
    return made;
}

clock::duration some_pause(unsigned refusals) {
    thread_local std::minstd_rand numbers{std::random_device{}()};
    const int most = std::min(longest_pause_us, 500 << std::min(refusals, 8U));
    return std::chrono::microseconds{std::uniform_int_distribution{0, most}(numbers)};
}

class taker {
public:
    taker(const std::shared_ptr<const multi_core>& core, clock::time_point deadline, const std::stop_token& stop)
        : core_(core), pool_(*core->pool), deadline_(deadline), stop_(stop) {}

    std::optional<guard> run();

private:
    [[nodiscard]] std::shared_ptr<multi_lease> part(std::size_t slot) const {
        return std::make_shared<multi_lease>(core_, core_->by_slot[slot], whole_->owner(), fence_);
    }
    [[nodiscard]] std::optional<std::size_t> ask_each();
    [[nodiscard]] guard finish();
    [[nodiscard]] bool wait_for_slot(std::size_t slot, unsigned refusals);
    [[nodiscard]] bool outlasts(const error& failure);
    void start_anew();
    [[nodiscard]] bool give_back_spent();
    [[noreturn]] void fail(const error& failure);
    void let_go();

    std::shared_ptr<const multi_core> core_;
    connection_pool& pool_;
    clock::time_point deadline_;
    const std::stop_token& stop_;

    std::shared_ptr<slot_lease> whole_ = std::make_shared<slot_lease>(core_);
    std::vector<std::shared_ptr<slot_lease>> spent_;  // of rounds in doubt, whose tokens may hold something still
    clock::time_point sent_{};
    std::uint64_t fence_ = 0;            // the largest so far
    std::vector<std::uint64_t> fences_;  // of each slot in this round
    std::int64_t replicas_ = 0;          // the fewest of a slot in this round
    bool holds_ = false;                 // something, perhaps
};

std::optional<guard> taker::run() {
    for (unsigned refusals = 0;; ++refusals) {
        try {
            const auto busy = ask_each();
            if (!busy) return finish();
            if (holds_) let_go();
            if (!wait_for_slot(*busy, refusals)) break;
        } catch (const error& failure) {
            if (!outlasts(failure)) fail(failure);
        }
    }
    if (give_back_spent()) return std::nullopt;
    throw error(errc::timeout,
                fmt::format("acquiring \"{}\": the time is over, and what was asked for before may have been granted",
                            core_->name.printable()),
                effect::in_doubt);
}

void taker::fail(const error& failure) {
    const bool is_open = !give_back_spent();
    try {
        if (holds_) detail::settle_failure(*whole_, failure, steps::several, false);
    } catch (const error& settled) {
        throw settled.in_doubt_if(is_open);
    }
    throw failure.in_doubt_if(is_open);
}

// False: it is not known of all.
bool taker::give_back_spent() {
    bool settled = true;
    for (const auto& one : spent_) {
        try {
            static_cast<void>(tranca::run(pool_, one->release_call(), deadline_after(patience_with_nodes)));
        } catch (const error& failure) {
            settled = false;
            pool_.report(event::kind::undo_failed, core_->name, failure.text());
        }
    }
    return settled;
}

// Which slot is busy; empty: none, and all are held. One that is held already is asked again, which sets its time.
std::optional<std::size_t> taker::ask_each() {
    sent_ = clock::now();
    fences_.clear();
    replicas_ = std::numeric_limits<std::int64_t>::max();
    for (std::size_t slot = 0; slot < core_->by_slot.size(); ++slot) {
        auto held = try_now(part(slot));
        if (!held) return slot;
        holds_ = true;
        fences_.push_back(held->fence().value_or(0));
        fence_ = std::max(fence_, fences_.back());
        replicas_ = std::min(replicas_, held->replicas());
        held->abandon();  // the whole goes on with it
    }
    return std::nullopt;
}

guard taker::finish() {
    std::vector<std::size_t> lower;
    for (std::size_t slot = 0; slot < fences_.size(); ++slot)
        if (fences_[slot] < fence_) lower.push_back(slot);
    if (!lower.empty() && tranca::run(pool_, whole_->raise_call(lower, fence_)).integer() != 1)
        detail::give_back_late_grant(*whole_);
    whole_->fenced_by(fence_);
    whole_->acknowledged_by(replicas_);
    whole_->begin(sent_);
    if (!whole_->held()) detail::give_back_late_grant(*whole_);
    holds_ = false;
    return guard{whole_};
}

// False: the time is over, or it was stopped. Whoever gets here holds nothing.
bool taker::wait_for_slot(std::size_t slot, unsigned refusals) {
    const auto now = clock::now();
    if (now >= deadline_) return false;
    const auto pause = refusals == 0 ? clock::duration::zero() : some_pause(refusals);
    if (!pause_until(std::min(deadline_, now + pause), stop_, pool_.closing())) return false;
    auto held = wait_for(part(slot), deadline_, stop_);
    if (!held) return false;
    holds_ = true;
    held->abandon();
    return true;
}

// A node of a Cluster that is away, and will be back, or another in its place. What can be reached is given back meanwhile. What
// was sent in doubt may come late, and so may what undoes it: then the next round has a token of its own, and what the old one may
// hold is given back at the end.
bool taker::outlasts(const error& failure) {
    const bool passes = failure.temporary() || detail::is_outage(pool_, failure, deadline_);
    if (!pool_.is_cluster() || !passes || clock::now() >= deadline_) return false;
    bool is_open = failure.in_doubt();
    try {
        if (holds_) static_cast<void>(tranca::run(pool_, whole_->release_call(), deadline_after(patience_with_nodes)));
        holds_ = false;
    } catch (const error& again) {
        is_open = is_open || again.in_doubt();
    }
    if (is_open) start_anew();
    return pause_until(std::min(deadline_, clock::now() + pause_while_nodes_are_away), stop_, pool_.closing());
}

void taker::start_anew() {
    spent_.push_back(std::move(whole_));
    whole_ = std::make_shared<slot_lease>(core_);
    holds_ = false;
}

void taker::let_go() {
    tranca::run(pool_, whole_->release_call());
    holds_ = false;
}

}  // namespace

bool slots_matter(connection_pool& pool) { return pool.is_cluster() || pool.companion<slot_knowledge>()->matters; }

bool tells_of_slots(connection_pool& pool, const error& failure) {
    if (failure.reason() != errc::server || failure.text().find("CROSSSLOT") == std::string::npos) return false;
    pool.companion<slot_knowledge>()->matters = true;
    return true;
}

std::optional<guard> take_by_slot(const std::shared_ptr<const multi_core>& core, clock::time_point deadline,
                                  const std::stop_token& stop) {
    return taker{core, deadline, stop}.run();
}

repeatable_call slot_lease::release_call_of(const token& whose) const {
    return all_of(core_->by_slot, [&](const key_group& some) { return core_->release_call(some, whose); });
}

repeatable_call slot_lease::extend_call(milliseconds ttl) const {
    return all_of(core_->by_slot, [&](const key_group& some) { return core_->extend_call(some, owner(), ttl); });
}

repeatable_call slot_lease::raise_call(const std::vector<std::size_t>& slots, std::uint64_t fence) const {
    return all_of(slots, [&](std::size_t slot) { return core_->raise_call(core_->by_slot[slot], owner(), fence); });
}

}  // namespace tranca
