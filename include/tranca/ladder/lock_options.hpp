#pragma once

// Options of the lock rungs, and what those rungs hold on the server.
//
//     tranca::ladder::px_lock lock{redis, "invoices", {.lease = {.ttl = 5s}}};
//
// Promises: bad values are refused when the lock is made, before anything is sent.

#include <string>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/lease.hpp>
#include <tranca/scripts.hpp>
#include <tranca/time.hpp>

namespace tranca::ladder {

/// How a lock rung behaves.
struct lock_options {
    std::string prefix = "lock:";  ///< The book's. The key is prefix + name.
    lease_options lease{};  ///< The ladder never renews by itself: an explicit renew_every or max_hold is refused.
    milliseconds poll{1};   ///< The pause between attempts of a waiter; the book's.
};

/// The rules of a rung's lease. Throws errc::invalid_argument for options the ladder does not have. No I/O.
[[nodiscard]] inline lease_clock ladder_rules(const lease_options& options) {
    if (options.renew_every && *options.renew_every != milliseconds::zero())
        throw error(errc::invalid_argument, "renew_every: the ladder never renews by itself; call guard::extend()");
    if (options.max_hold != milliseconds::zero())
        throw error(errc::invalid_argument,
                    "max_hold: the ladder never renews by itself, so its ttl bounds every hold");
    auto never_renewed = options;
    never_renewed.renew_every = milliseconds::zero();
    return lease_clock{never_renewed};
}

/// A key that holds the owner's token.
class lock_lease final : public lease {
public:
    using lease::lease;

    [[nodiscard]] const script& release_script() const noexcept override { return scripts::release_lock(); }
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override {
        return scripts::release_lock().call({name().bytes()}, whose);
    }

private:
    // A lock without ttl has nothing to extend: it is only asked whether it is still ours.
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override {
        if (rules().is_endless()) return scripts::check_lock().call({name().bytes()}, owner());
        return scripts::extend_lock().call({name().bytes()}, owner(), ttl);
    }
};

}  // namespace tranca::ladder
