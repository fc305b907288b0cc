#include <tranca/ladder/semaphore_options.hpp>

#include <utility>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca::ladder {

std::string book_seconds(std::chrono::system_clock::time_point time) {
    constexpr std::int64_t million = 1'000'000;
    const std::int64_t total = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
    const auto size = total < 0 ? -total : total;
    return fmt::format("{}{}.{:06}", total < 0 ? "-" : "", size / million, size % million);
}

void require_limit(std::int64_t limit) {
    if (limit <= 0) throw error(errc::invalid_argument, fmt::format("limit ({}) must be greater than 0", limit));
}

key semaphore_key(std::string_view name) {
    require_proper_hash_tag(name);
    for (const std::string_view ending : {":owner", ":counter"})
        if (name.ends_with(ending))
            throw error(
                errc::invalid_argument,
                fmt::format("the name {} ends in {}, which is a key of another semaphore", printable(name), ending));
    return prefixed_key("", name);
}

slot_lease::slot_lease(std::shared_ptr<connection_pool> pool, key holders, std::string order, const lease_clock& rules,
                       wall_clock now)
    : lease(std::move(pool), std::move(holders), rules), order_(std::move(order)), now_(std::move(now)) {}

repeatable_call slot_lease::release_call_of(const token& whose) const {
    if (order_.empty()) return scripts::release_slot().call({name().bytes()}, whose);
    return scripts::release_slot().call({name().bytes(), order_}, whose);
}

repeatable_call slot_lease::extend_call(milliseconds ttl) const {
    // Ranked by its time, a holder that is ahead of the clock would rank behind the next comer, who then got in too.
    if (order_.empty() && ttl > rules().ttl())
        throw error(
            errc::invalid_argument,
            fmt::format("extending \"{}\": the ttl ({} ms) must not be longer than that of its semaphore ({} ms)",
                        name().printable(), ttl.count(), rules().ttl().count()));
    return scripts::refresh_slot().call({name().bytes()}, owner(), book_seconds(now_() + (ttl - rules().ttl())));
}

}  // namespace tranca::ladder
