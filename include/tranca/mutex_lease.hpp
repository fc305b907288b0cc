#pragma once

// What one acquisition of a mutex holds on the server, and what all acquisitions of one mutex share.
//
//     auto candidate = std::make_shared<tranca::mutex_lease>(core);
//
// On the server: the main key holds `token|fence|label`, {main}:fence the last fence reserved less 8, {main}:wait the mark of a
// waiter, {main}:wake the wake-up for one of them. With fairness there are {main}:queue instead of the mark,
// and {main}:seen:TOKEN and a list {main}:wake:TOKEN for each waiter.
// Requests and decoders only: pure but for what a lease does.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tranca/contender.hpp>
#include <tranca/gate.hpp>
#include <tranca/helper_key.hpp>
#include <tranca/mutex_options.hpp>
#include <tranca/scripts.hpp>

namespace tranca {

/// What the acquisitions of one mutex have in common. A value that does not change.
struct mutex_core {
    std::shared_ptr<connection_pool> pool;
    key name;
    mutex_options options;
    lease_clock rules;
    std::string fence_key;
    std::string wake_key;
    std::string mark_key;
    std::string queue_key;
    std::string seen_key;
    std::string kind;             // of the leases: the options, in one line
    std::shared_ptr<gate> queue;  // none with fairness: each thread has its own place in the line on the server

    /// Compare, delete and wake. No I/O.
    [[nodiscard]] repeatable_call release_call(std::string_view owner) const;

    [[nodiscard]] bool is_fair() const noexcept { return options.fairness == fairness::on; }
};

/// Throws errc::invalid_argument for a bad option. No I/O.
[[nodiscard]] std::shared_ptr<const mutex_core> make_mutex_core(const std::shared_ptr<connection_pool>& pool,
                                                                const key& name, const mutex_options& options);

/// Removes the lock of whoever holds it now; see mutex::force_release().
[[nodiscard]] bool force_release_of(const mutex_core& core);

/// See the top of this file.
class mutex_lease final : public contender {
public:
    /// Still to be won, with a fresh token.
    explicit mutex_lease(std::shared_ptr<const mutex_core> core)
        : contender(core->pool, core->name, core->rules), core_(std::move(core)), queue_(core_->queue) {
        if (core_->is_fair()) own_list_ = list_of_its_own(core_->wake_key, owner());
    }

    [[nodiscard]] script_call acquire_call(bool waits) const override;
    verdict hear(const reply& answer) override;
    [[nodiscard]] std::string_view wake_list() const override { return core_->is_fair() ? own_list_ : core_->wake_key; }
    [[nodiscard]] bool leaves_a_claim() const noexcept override { return core_->is_fair(); }
    [[nodiscard]] std::optional<milliseconds> waiter_lease() const noexcept override {
        return core_->is_fair() ? std::optional{core_->options.waiter_lease} : std::nullopt;
    }

    [[nodiscard]] tranca::replicas wanted_replicas() const noexcept override { return core_->options.replicas; }
    [[nodiscard]] const script& release_script() const noexcept override {
        return core_->is_fair() ? scripts::release_fair_mutex() : scripts::release_mutex();
    }
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override;
    [[nodiscard]] bool may_ask_plainly() const noexcept override {
        return core_->options.fencing == fencing::off && !core_->is_fair();
    }

    /// The gate it queued at.
    void queued_at(std::shared_ptr<gate> queue) noexcept { queue_ = std::move(queue); }

private:
    /// Handed over by another thread of this process: the same token, the next fence.
    mutex_lease(const mutex_lease& previous, std::optional<std::uint64_t> fence)
        : contender(previous.core_->pool, previous.name(), previous.rules(), previous.owner()),
          core_(previous.core_),
          queue_(previous.queue_),
          first_fence_(previous.first_fence_),
          last_fence_(previous.last_fence_),
          waiters_(previous.waiters_) {
        fence_ = fence;
    }

    [[nodiscard]] script_call acquire_in_line(bool waits) const;
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override;
    bool pass_on() override;
    void on_end() noexcept override {
        if (queue_) queue_->end(*this);
    }
    [[nodiscard]] bool may_defer() const noexcept override {
        return core_->options.release == release_mode::deferred && !waiters_;
    }
    [[nodiscard]] std::shared_ptr<lease> next_holder() const;
    [[nodiscard]] std::string value_of(const token& whose) const;
    void hear_fence(std::string_view digits, std::uint64_t reserved);

    std::shared_ptr<const mutex_core> core_;
    std::shared_ptr<gate> queue_;
    std::string own_list_;
    std::uint64_t first_fence_ = 0;  // the one in the server's value; 0: none
    std::uint64_t last_fence_ = 0;   // of those reserved
    bool waiters_ = true;            // in other processes, as of the grant
};

}  // namespace tranca
