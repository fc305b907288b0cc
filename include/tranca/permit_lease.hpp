#pragma once

// What one acquisition of a semaphore holds on the server, and what all acquisitions of one semaphore share.
//
//     auto candidate = std::make_shared<tranca::permit_lease>(core, 1);
//
// On the server: the main key is a sorted set of tokens by the end of each holder's own lease, {main}:state a hash of the
// limit, the count, the last fence, the free slots, who waits and what each holder has; {main}:wake and {main}:turn are the
// wake-ups for those that want one and for those that want several. With fairness those who wait stand in {main}:queue
// instead, and each has {main}:seen:TOKEN and a list {main}:wake:TOKEN.
// Requests and decoders only: pure but for what a lease does.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tranca/contender.hpp>
#include <tranca/helper_key.hpp>
#include <tranca/permit_options.hpp>
#include <tranca/scripts.hpp>

namespace tranca {

/// What the acquisitions of one semaphore have in common. A value that does not change.
struct permit_core {
    std::shared_ptr<connection_pool> pool;
    key name;
    std::int64_t limit;
    permit_options options;
    lease_clock rules;
    std::string state_key;
    std::string wake_key;
    std::string turn_key;
    std::string queue_key;
    std::string seen_key;

    /// A call of one of the semaphore's scripts, which all take the same keys. No I/O.
    template <request_argument... Arguments>
    [[nodiscard]] repeatable_call call(const repeatable_script& what, const Arguments&... arguments) const {
        return what.call({name.bytes(), state_key, wake_key, turn_key}, arguments...);
    }

    /// The same of one that keeps the line of those who wait.
    template <request_argument... Arguments>
    [[nodiscard]] repeatable_call call_in_line(const repeatable_script& what, const Arguments&... arguments) const {
        return what.call({name.bytes(), state_key, wake_key, turn_key, queue_key, seen_key, wake_key}, arguments...);
    }

    [[nodiscard]] bool is_fair() const noexcept { return options.fairness == fairness::on; }
};

/// Throws errc::invalid_argument unless 0 < limit <= 2^31. No I/O.
void require_semaphore_limit(std::int64_t limit);

/// Throws errc::invalid_argument for a bad limit or option. No I/O.
[[nodiscard]] std::shared_ptr<const permit_core> make_permit_core(const std::shared_ptr<connection_pool>& pool,
                                                                  const key& name, std::int64_t limit,
                                                                  const permit_options& options);

/// See the top of this file.
class permit_lease final : public contender {
public:
    /// Still to be won, with a fresh token: so many permits at once.
    permit_lease(std::shared_ptr<const permit_core> core, std::int64_t weight)
        : contender(core->pool, core->name, core->rules), core_(std::move(core)), weight_(weight) {
        if (core_->is_fair()) own_list_ = list_of_its_own(core_->wake_key, owner());
    }

    [[nodiscard]] script_call acquire_call(bool waits) const override;
    verdict hear(const reply& answer) override;
    [[nodiscard]] std::string_view wake_list() const override {
        if (core_->is_fair()) return own_list_;
        return weight_ == 1 ? core_->wake_key : core_->turn_key;
    }
    [[nodiscard]] bool leaves_a_claim() const noexcept override { return weight_ > 1 || core_->is_fair(); }
    [[nodiscard]] std::optional<milliseconds> waiter_lease() const noexcept override {
        return core_->is_fair() ? std::optional{core_->options.waiter_lease} : std::nullopt;
    }

    [[nodiscard]] tranca::replicas wanted_replicas() const noexcept override { return core_->options.replicas; }
    [[nodiscard]] const script& release_script() const noexcept override {
        return core_->is_fair() ? scripts::release_fair_permits() : scripts::release_permits();
    }
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override;
    [[nodiscard]] std::span<const std::int64_t> slots() const noexcept override { return slots_; }

private:
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override;
    void hear_grant(std::string_view slots, std::string_view digits);

    std::shared_ptr<const permit_core> core_;
    std::int64_t weight_;
    std::string own_list_;
    std::vector<std::int64_t> slots_;
    bool was_busy_ = false;  // and so has waited, if it asks again
};

}  // namespace tranca
