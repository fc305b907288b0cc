#include <tranca/replicas.hpp>

#include <fmt/format.h>

#include <tranca/error.hpp>

namespace tranca {

namespace {

constexpr std::int64_t most_replicas = 1'000;

}  // namespace

void require_replicas(const replicas& wanted, milliseconds ttl) {
    if (wanted.count < 0 || wanted.count > most_replicas)
        throw error(errc::invalid_argument,
                    fmt::format("replicas: count must be from 0 to {}, not {}", most_replicas, wanted.count));
    require_positive(wanted.within, "replicas: within");
    if (wanted.wanted() && wanted.within >= ttl)
        throw error(errc::invalid_argument, fmt::format("replicas: within ({} ms) must be less than the ttl ({} ms)",
                                                        wanted.within.count(), ttl.count()));
}

}  // namespace tranca
