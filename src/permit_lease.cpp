#include <tranca/permit_lease.hpp>

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
    return std::make_shared<const permit_core>(permit_core{.pool = pool,
                                                           .name = name,
                                                           .limit = limit,
                                                           .options = std::move(complete),
                                                           .rules = lease_clock{options.lease},
                                                           .state_key = helper_key(name.bytes(), "state"),
                                                           .wake_key = helper_key(name.bytes(), "wake"),
                                                           .turn_key = helper_key(name.bytes(), "turn")});
}

script_call permit_lease::acquire_call(bool waits) const {
    return core_->call(scripts::acquire_permits(), owner(), core_->options.label, usual_ttl(),
                       fence_floor(*core_->pool), core_->limit, weight_, std::string_view{waits ? "1" : "0"});
}

contender::verdict permit_lease::hear(const reply& answer) {
    switch (answer.size()) {
    case 1: return {.granted = false, .busy_for = milliseconds{answer[0].integer()}};
    case 2:
        slots_ = slots_from(answer[0].text());
        fence_ = fence_from(answer[1].text());
        core_->pool->remember_fence(*fence_);
        return {.granted = true};
    default:
        throw error(errc::limit_differs,
                    fmt::format("acquiring \"{}\": its limit is {} (declared as {}), not {}", name().printable(),
                                answer[1].integer(), answer[2].integer(), core_->limit));
    }
}

repeatable_call permit_lease::release_call() const { return core_->call(scripts::release_permits(), owner()); }

repeatable_call permit_lease::extend_call(milliseconds ttl) const {
    return core_->call(scripts::extend_permits(), owner(), ttl);
}

}  // namespace tranca
