#include <tranca/lease_clock.hpp>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca {

namespace {

void require_less(milliseconds value, std::string_view option, milliseconds bound, std::string_view bound_name) {
    if (value >= bound)
        throw error(errc::invalid_argument, fmt::format("{} ({} ms) must be less than {} ({} ms)", option,
                                                        value.count(), bound_name, bound.count()));
}

}  // namespace

lease_clock::lease_clock(const lease_options& options) : ttl_(options.ttl) {
    require_positive(options.ttl, "ttl");
    if (options.margin) {
        require_not_negative(*options.margin, "margin");
        const auto certain = options.ttl > precision ? options.ttl - precision : options.ttl;
        // In milliseconds first: a huge margin overflows in the finer unit of drift.
        if (*options.margin >= options.ttl || *options.margin >= certain - drift(options.ttl))
            throw error(errc::invalid_argument,
                        fmt::format("margin ({} ms) must be less than ttl ({} ms) less 1 ms and a thousandth of it",
                                    options.margin->count(), options.ttl.count()));
    }
    margin_ = options.margin ? clock::duration{*options.margin} : clock::duration{options.ttl} / 10;
    require_not_negative(options.max_hold, "max_hold");
    max_hold_ = options.max_hold;
    // A ttl of a few milliseconds leaves no room for renewing.
    renew_every_ = options.renew_every.value_or(options.ttl / 3);
    require_not_negative(renew_every_, "renew_every");
    if (renew_every_ == milliseconds::zero()) return;
    const auto margin = std::chrono::ceil<milliseconds>(margin_);
    if (!options.renew_every && renew_every_ >= options.ttl - margin) {
        renew_every_ = milliseconds::zero();
        return;
    }
    require_less(renew_every_, "renew_every", options.ttl - margin, "ttl - margin");
}

}  // namespace tranca
