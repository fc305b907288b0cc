#include <tranca/shared_lease.hpp>

#include <tranca/mutex_options.hpp>

#include "fence_text.hpp"

namespace tranca {

std::shared_ptr<const shared_core> make_shared_core(const std::shared_ptr<connection_pool>& pool, const key& name,
                                                    const shared_options& options) {
    require_replicas(options.replicas, options.lease.ttl);
    auto complete = options;
    complete.label = label_or_default(options.label);
    const lease_clock rules{options.lease};
    return std::make_shared<const shared_core>(shared_core{
        .pool = pool,
        .name = name,
        .options = std::move(complete),
        .rules = rules,
        .upgrade_rules = lease_clock{{.ttl = rules.ttl(), .renew_every = milliseconds{0}, .margin = milliseconds{0}}},
        .state_key = helper_key(name.bytes(), "state"),
        .write_key = helper_key(name.bytes(), "write"),
        .read_key = helper_key(name.bytes(), "read"),
        .upgrade_key = helper_key(name.bytes(), "upgrade")});
}

script_call shared_lease::acquire_call(bool waits) const {
    return core_->call(scripts::acquire_shared(), owner(), core_->options.label, usual_ttl(), fence_floor(*core_->pool),
                       std::string_view{wanted_ == lock_mode::exclusive ? "exclusive" : "shared"},
                       std::string_view{waits ? "1" : "0"});
}

contender::verdict shared_lease::hear(const reply& answer) {
    if (answer.what() != reply_view::kind::text) return busy(answer.integer());
    const auto fence = granted_fence(answer.text());
    core_->pool->remember_fence(fence);
    change(wanted_, fence);
    return {.granted = true};
}

repeatable_call shared_lease::release_call_of(const token& whose) const {
    return core_->call(scripts::release_shared(), whose);
}

repeatable_call shared_lease::extend_call(milliseconds ttl) const {
    return core_->call(scripts::extend_shared(), owner(), ttl);
}

repeatable_call shared_lease::downgrade_call() {
    mode_ = lock_mode::shared;
    return lowering_call("1");
}

repeatable_call shared_lease::upgrade_call(bool waits) const {
    return core_->call(scripts::upgrade_shared(), owner(), fence_floor(*core_->pool), 2 * changes_ + 1,
                       std::string_view{waits ? "1" : "0"});
}

// Whatever was sent to raise it before is late from now on.
repeatable_call shared_lease::lowering_call(std::string_view tell) {
    const auto number = 2 * changes_.fetch_add(1) + 2;
    return core_->call(scripts::downgrade_shared(), owner(), fence_floor(*core_->pool), number, tell);
}

bool shared_lease::hear_downgrade(const reply& answer) {
    if (answer.what() != reply_view::kind::text) return false;
    const auto fence = granted_fence(answer.text());
    core_->pool->remember_fence(fence);
    change(lock_mode::shared, fence);
    return true;
}

contender::verdict upgrade_claim::hear(const reply& answer) {
    if (answer.what() == reply_view::kind::text) {
        fence_ = granted_fence(answer.text());
        reader_->core()->pool->remember_fence(*fence_);
        result_ = upgrade_result::upgraded;
        return {.granted = true};
    }
    const auto left = answer.integer();
    if (left > 0) return busy(left);
    result_ = left == 0 ? upgrade_result::refused : upgrade_result::lost;
    return {.granted = true};  // settled: there is nothing to wait for
}

// Its time is the reader's, whose keeper extends it.
repeatable_call upgrade_claim::extend_call(milliseconds ttl) const {
    return reader_->core()->call(scripts::extend_shared(), owner(), ttl);
}

}  // namespace tranca
