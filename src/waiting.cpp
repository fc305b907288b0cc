#include <tranca/waiting.hpp>

#include <tranca/attempt.hpp>
#include <tranca/script.hpp>

#include "grant.hpp"
#include "waiter.hpp"

namespace tranca {

std::optional<guard> try_now(const std::shared_ptr<contender>& candidate) {
    const auto count = candidate->wanted_replicas().wanted() ? steps::several : steps::one;
    return attempt_once(candidate, count, [&](connection& redis, const token&) {
        const auto call = candidate->acquire_call(false);
        if (!verdict_of(*candidate, call, run(redis, call), redis).granted) return false;
        await_replicas(*candidate, redis);
        return true;
    });
}

std::optional<guard> wait_for(const std::shared_ptr<contender>& candidate, clock::time_point deadline,
                              const std::stop_token& stop) {
    detail::require_release_rights(*candidate);
    return waiter{candidate, deadline, stop}.run();
}

}  // namespace tranca
