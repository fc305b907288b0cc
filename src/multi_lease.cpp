#include <tranca/multi_lease.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <tranca/mutex_options.hpp>

#include "fence_text.hpp"

namespace tranca {

std::shared_ptr<const multi_core> make_multi_core(const std::shared_ptr<connection_pool>& pool,
                                                  std::span<const key> names, std::size_t most,
                                                  const multi_options& options) {
    if (names.empty()) throw error(errc::invalid_argument, "a lock on several names needs at least one");
    const auto locks = sorted_once(names);
    if (locks.size() > most)
        throw error(errc::invalid_argument, fmt::format("at most {} names at once, not {}", most, locks.size()));
    require_replicas(options.replicas, options.lease.ttl);
    auto complete = options;
    complete.label = label_or_default(options.label);
    auto unrenewed = options.lease;
    unrenewed.renew_every = milliseconds{0};
    return std::make_shared<const multi_core>(multi_core{.pool = pool,
                                                         .name = names.front(),
                                                         .options = std::move(complete),
                                                         .rules = lease_clock{options.lease},
                                                         .unrenewed = lease_clock{unrenewed},
                                                         .all = key_group{locks},
                                                         .by_slot = grouped_by_slot(locks)});
}

repeatable_call multi_core::acquire_call(const key_group& some, const token& owner, std::uint64_t least_fence,
                                         std::string_view leaves_mark, std::size_t waited_for) const {
    const auto floor = least_fence > pool->largest_fence() ? std::to_string(least_fence) : fence_floor(*pool);
    return scripts::acquire_multi().call(some.all(), owner, options.label, rules.ttl(), floor, leaves_mark, waited_for);
}

repeatable_call multi_core::release_call(const key_group& some, const token& owner) const {
    return scripts::release_multi().call(some.releasable(), owner);
}

repeatable_call multi_core::extend_call(const key_group& some, const token& owner, milliseconds ttl) const {
    return scripts::extend_multi().call(some.locks(), owner, ttl);
}

repeatable_call multi_core::raise_call(const key_group& some, const token& owner, std::uint64_t fence) const {
    return scripts::raise_multi().call(some.all(), owner, options.label, fence);
}

script_call multi_lease::acquire_call(bool waits) const {
    return core_->acquire_call(some_, owner(), least_fence_, waits ? "1" : "0", busy_);
}

contender::verdict multi_lease::hear(const reply& answer) {
    if (answer.size() == 2) {
        const auto which = answer[0].integer();
        if (which < 1 || which > static_cast<std::int64_t>(some_.size()))
            throw error(errc::protocol, "a busy name that was not asked for");
        busy_ = static_cast<std::size_t>(which);
        return busy(answer[1].integer());
    }
    if (answer.size() != 1) throw error(errc::protocol, "not the answer to an acquire");
    fence_ = granted_fence(answer[0].text());
    core_->pool->remember_fence(*fence_);
    return {.granted = true};
}

}  // namespace tranca
