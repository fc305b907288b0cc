#pragma once

// What one acquisition of a readers/writer lock holds on the server, and what all acquisitions of one lock share.
//
//     auto candidate = std::make_shared<tranca::shared_lease>(core, tranca::lock_mode::shared);
//
// On the server: the main key is a hash of the mode and of each holder's own end, fence, last change and label;
// {main}:state a hash of the last fence, the readers' one and who waits; {main}:write, {main}:read and {main}:upgrade are
// the wake-ups for writers, for readers and for the reader that upgrades.
// Requests and decoders only: pure but for what a lease does.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tranca/contender.hpp>
#include <tranca/helper_key.hpp>
#include <tranca/scripts.hpp>
#include <tranca/shared_options.hpp>

namespace tranca {

/// What a holder may do beside others: readers share, a writer is alone.
enum class lock_mode { shared, exclusive };

/// What the acquisitions of one lock have in common. A value that does not change.
struct shared_core {
    std::shared_ptr<connection_pool> pool;
    key name;
    shared_options options;
    lease_clock rules;
    lease_clock upgrade_rules;  // of the wait for an upgrade: nothing that could be renewed
    std::string state_key;
    std::string write_key;
    std::string read_key;
    std::string upgrade_key;

    /// A call of one of the lock's scripts, which all take the same keys. No I/O.
    template <request_argument... Arguments>
    [[nodiscard]] repeatable_call call(const repeatable_script& what, const Arguments&... arguments) const {
        return what.call({name.bytes(), state_key, write_key, read_key, upgrade_key}, arguments...);
    }
};

/// Throws errc::invalid_argument for a bad option. No I/O.
[[nodiscard]] std::shared_ptr<const shared_core> make_shared_core(const std::shared_ptr<connection_pool>& pool,
                                                                  const key& name, const shared_options& options);

/// See the top of this file.
class shared_lease final : public contender {
public:
    /// Still to be won, with a fresh token.
    shared_lease(std::shared_ptr<const shared_core> core, lock_mode wanted)
        : contender(core->pool, core->name, core->rules), core_(std::move(core)), wanted_(wanted), mode_(wanted) {}

    [[nodiscard]] script_call acquire_call(bool waits) const override;
    verdict hear(const reply& answer) override;
    [[nodiscard]] std::string_view wake_list() const override {
        return wanted_ == lock_mode::exclusive ? core_->write_key : core_->read_key;
    }
    [[nodiscard]] tranca::replicas wanted_replicas() const noexcept override { return core_->options.replicas; }
    [[nodiscard]] bool leaves_a_claim() const noexcept override { return wanted_ == lock_mode::exclusive; }

    [[nodiscard]] const script& release_script() const noexcept override { return scripts::release_shared(); }
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override;

    [[nodiscard]] std::optional<std::uint64_t> fence() const noexcept override {
        const auto number = number_.load();
        return number == 0 ? std::nullopt : std::optional{number};
    }

    [[nodiscard]] const std::shared_ptr<const shared_core>& core() const noexcept { return core_; }

    /// What it may do, as far as is known here: after a change whose outcome is unknown, the lesser.
    [[nodiscard]] lock_mode mode() const noexcept { return mode_; }

    /// It may do this from now on, with this fence. Thread-safe.
    void change(lock_mode mode, std::uint64_t fence) noexcept {
        number_ = fence;
        mode_ = mode;
    }

    /// Asks to make it a reader. Before the answer is known it counts as one.
    [[nodiscard]] repeatable_call downgrade_call();

    /// Asks to make it the writer.
    [[nodiscard]] repeatable_call upgrade_call(bool waits) const;

    /// Asks to undo that: what upgrade_call() gave before may come later, and does nothing then.
    [[nodiscard]] repeatable_call undo_upgrade_call() { return lowering_call("0"); }

    /// The answer to downgrade_call(). False: it holds nothing.
    [[nodiscard]] bool hear_downgrade(const reply& answer);

private:
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override;
    [[nodiscard]] repeatable_call lowering_call(std::string_view tell);

    std::shared_ptr<const shared_core> core_;
    lock_mode wanted_;
    std::atomic<std::int64_t> changes_{0};  // by which the server tells a change that comes late
    std::atomic<lock_mode> mode_;
    std::atomic<std::uint64_t> number_{0};
};

/// How an upgrade went.
enum class upgrade_result {
    upgraded,  ///< It is the writer now.
    busy,      ///< Other readers are still in; it is a reader as before.
    refused,   ///< Another reader waits to upgrade, and for this one to leave: release, and acquire anew.
    lost,      ///< The lease was lost.
};

/// A reader's wish to be the writer: waited for like an acquisition, under the reader's own token. What waits for it ends
/// when it is settled, whichever way.
class upgrade_claim final : public contender {
public:
    explicit upgrade_claim(std::shared_ptr<shared_lease> reader)
        : contender(reader->core()->pool, reader->core()->name, reader->core()->upgrade_rules, reader->owner()),
          reader_(std::move(reader)) {}

    [[nodiscard]] script_call acquire_call(bool waits) const override { return reader_->upgrade_call(waits); }
    verdict hear(const reply& answer) override;
    [[nodiscard]] std::string_view wake_list() const override { return reader_->core()->upgrade_key; }
    [[nodiscard]] bool leaves_a_claim() const noexcept override { return true; }

    /// Makes it a reader again, or takes the wish back.
    [[nodiscard]] const script& release_script() const noexcept override { return scripts::downgrade_shared(); }
    [[nodiscard]] repeatable_call release_call_of(const token&) const override { return reader_->undo_upgrade_call(); }

    [[nodiscard]] upgrade_result result() const noexcept { return result_; }

private:
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override;

    std::shared_ptr<shared_lease> reader_;
    upgrade_result result_ = upgrade_result::busy;
};

}  // namespace tranca
