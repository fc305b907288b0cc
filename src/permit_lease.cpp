#include <tranca/permit_lease.hpp>

#include <utility>

#include <fmt/format.h>

#include <tranca/mutex_options.hpp>

#include "fence_text.hpp"
#include "slot_text.hpp"

namespace tranca {

namespace {

constexpr std::int64_t largest_limit = std::int64_t{1} << 31;

}  // namespace

void require_semaphore_limit(std::int64_t limit) {
    if (limit <= 0 || limit > largest_limit)
        throw error(errc::invalid_argument, fmt::format("limit: must be from 1 to 2^31, not {}", limit));
}

std::shared_ptr<const permit_core> make_permit_core(const std::shared_ptr<connection_pool>& pool, const key& name,
                                                    std::int64_t limit, const permit_options& options) {
    require_semaphore_limit(limit);
    auto complete = options;
    complete.label = label_or_default(options.label);
    require_waiter_lease(options.waiter_lease);
    require_replicas(options.replicas, options.lease.ttl);
    return std::make_shared<const permit_core>(permit_core{.pool = pool,
                                                           .name = name,
                                                           .limit = limit,
                                                           .options = std::move(complete),
                                                           .rules = lease_clock{options.lease},
                                                           .state_key = helper_key(name.bytes(), "state"),
                                                           .wake_key = helper_key(name.bytes(), "wake"),
                                                           .turn_key = helper_key(name.bytes(), "turn"),
                                                           .queue_key = helper_key(name.bytes(), "queue"),
                                                           .seen_key = helper_key(name.bytes(), "seen")});
}

script_call permit_lease::acquire_call(bool waits) const {
    const auto& label = core_->options.label;
    const auto floor = fence_floor(*core_->pool);
    const std::string_view mark = !waits ? "0" : was_busy_ && !core_->is_fair() ? "2" : "1";
    if (core_->is_fair())
        return core_->call_in_line(scripts::acquire_fair_permits(), owner(), label, usual_ttl(), floor, core_->limit,
                                   weight_, mark, core_->options.waiter_lease);
    return core_->call(scripts::acquire_permits(), owner(), label, usual_ttl(), floor, core_->limit, weight_, mark);
}

contender::verdict permit_lease::hear(const reply& answer) {
    switch (answer.size()) {
    case 1: was_busy_ = true; return busy(answer[0].integer());
    case 2: hear_grant(answer[0].text(), answer[1].text()); return {.granted = true};
    default:
        if (answer[0].text() != "limit") throw error(errc::protocol, "not the answer to an acquire");
        throw error(errc::limit_differs,
                    fmt::format("acquiring \"{}\": its limit is {} (declared as {}), not {}", name().printable(),
                                answer[1].integer(), answer[2].integer(), core_->limit));
    }
}

void permit_lease::hear_grant(std::string_view slots, std::string_view digits) {
    auto found = slots_from(slots);
    if (std::cmp_not_equal(found.size(), weight_)) throw error(errc::protocol, "not as many slots as were asked for");
    fence_ = granted_fence(digits);
    slots_ = std::move(found);
    core_->pool->remember_fence(*fence_);
}

repeatable_call permit_lease::release_call_of(const token& whose) const {
    return core_->is_fair() ? core_->call_in_line(scripts::release_fair_permits(), whose)
                            : core_->call(scripts::release_permits(), whose);
}

repeatable_call permit_lease::extend_call(milliseconds ttl) const {
    return core_->call(scripts::extend_permits(), owner(), ttl);
}

}  // namespace tranca
