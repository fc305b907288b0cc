#include <tranca/semaphore.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "fence_text.hpp"
#include "slot_text.hpp"

namespace tranca {

namespace {

// "slots|fence|label", as the scripts write it; anything else has only a time.
permit_holder holder_from(std::string_view value, milliseconds remaining) {
    permit_holder found{.label = {}, .slots = {}, .fence = 0, .remaining = remaining};
    const auto after_slots = value.find('|');
    if (after_slots == std::string_view::npos) return found;
    const auto after_fence = value.find('|', after_slots + 1);
    if (after_fence == std::string_view::npos) return found;
    found.slots = slots_from(value.substr(0, after_slots));
    found.fence = fence_from(value.substr(after_slots + 1, after_fence - after_slots - 1));
    found.label = value.substr(after_fence + 1);
    return found;
}

}  // namespace

semaphore semaphore::weighted(std::int64_t count) const {
    const auto most = std::min(core_->limit, largest_weight);
    if (count <= 0 || count > most)
        throw error(errc::invalid_argument, fmt::format("weight: must be from 1 to {}, not {}", most, count));
    auto copy = *this;
    copy.weight_ = count;
    return copy;
}

std::int64_t semaphore::available() const {
    return run(*pool(), core_->call(scripts::list_permits(), core_->limit, std::string_view{"0"}))[0].integer();
}

std::vector<permit_holder> semaphore::holders() const {
    const auto answer = run(*pool(), core_->call(scripts::list_permits(), core_->limit, std::string_view{"1"}));
    std::vector<permit_holder> all;
    for (std::size_t i = 1; i < answer.size(); ++i)
        all.push_back(holder_from(answer[i][0].text(), milliseconds{answer[i][1].integer()}));
    return all;
}

void semaphore::set_limit(std::int64_t limit) const {
    require_semaphore_limit(limit);
    run(*pool(), core_->call(scripts::limit_permits(), limit, core_->limit));
}

}  // namespace tranca
