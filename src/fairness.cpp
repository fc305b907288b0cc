#include <tranca/fairness.hpp>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca {

void require_waiter_lease(milliseconds lease) {
    constexpr milliseconds shortest{10};
    if (lease < shortest || lease > longest_waiter_lease)
        throw error(errc::invalid_argument, fmt::format("waiter_lease: must be from {} to {} ms, not {}",
                                                        shortest.count(), longest_waiter_lease.count(), lease.count()));
}

}  // namespace tranca
