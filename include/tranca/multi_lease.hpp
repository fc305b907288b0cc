#pragma once

// What one acquisition of several names holds on the server, where one script takes them all.
//
//     auto candidate = std::make_shared<tranca::multi_lease>(core, core->all);
//
// On the server each name is what a mutex of that name is: `token|fence|label` in its main key, and {main}:fence,
// {main}:wait and {main}:wake beside it. All of them have the same token and the same fence.
// Requests and decoders only: pure but for what a lease does.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tranca/contender.hpp>
#include <tranca/key_group.hpp>
#include <tranca/multi_options.hpp>
#include <tranca/scripts.hpp>

namespace tranca {

/// What the acquisitions of one multi_mutex have in common. A value that does not change.
struct multi_core {
    std::shared_ptr<connection_pool> pool;
    key name;  // the first, by which events and errors call it
    multi_options options;
    lease_clock rules;
    lease_clock unrenewed;  // the same, of a part whose renewal is that of the whole
    key_group all;
    std::vector<key_group> by_slot;

    [[nodiscard]] repeatable_call acquire_call(const key_group& some, const token& owner, std::uint64_t least_fence,
                                               std::string_view leaves_mark, std::size_t waited_for) const;
    [[nodiscard]] repeatable_call release_call(const key_group& some, const token& owner) const;
    [[nodiscard]] repeatable_call extend_call(const key_group& some, const token& owner, milliseconds ttl) const;
    [[nodiscard]] repeatable_call raise_call(const key_group& some, const token& owner, std::uint64_t fence) const;
};

/// Throws errc::invalid_argument for a bad option, for no name, or for more than `most` names. No I/O.
[[nodiscard]] std::shared_ptr<const multi_core> make_multi_core(const std::shared_ptr<connection_pool>& pool,
                                                                std::span<const key> names, std::size_t most,
                                                                const multi_options& options);

/// See the top of this file.
class multi_lease final : public contender {
public:
    /// Still to be won, with a fresh token: all names.
    explicit multi_lease(std::shared_ptr<const multi_core> core)
        : contender(core->pool, core->name, core->rules), core_(std::move(core)), some_(core_->all) {}

    /// Some of them, as a part of a larger acquisition: by its token, with a fence no less than its other parts'.
    multi_lease(std::shared_ptr<const multi_core> core, const key_group& some, const token& owner,
                std::uint64_t least_fence)
        : contender(core->pool, key{some.locks().front()}, core->unrenewed, owner),
          core_(std::move(core)),
          some_(some),
          least_fence_(least_fence) {}

    [[nodiscard]] script_call acquire_call(bool waits) const override;
    verdict hear(const reply& answer) override;
    [[nodiscard]] std::string_view wake_list() const override { return some_.wake_list(busy_ == 0 ? 0 : busy_ - 1); }

    [[nodiscard]] tranca::replicas wanted_replicas() const noexcept override { return core_->options.replicas; }

    [[nodiscard]] const script& release_script() const noexcept override { return scripts::release_multi(); }
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override {
        return core_->release_call(some_, whose);
    }

private:
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override {
        return core_->extend_call(some_, owner(), ttl);
    }

    std::shared_ptr<const multi_core> core_;
    const key_group& some_;  // of the core
    std::uint64_t least_fence_ = 0;
    std::size_t busy_ = 0;  // which name was busy last, from 1 up
};

}  // namespace tranca
