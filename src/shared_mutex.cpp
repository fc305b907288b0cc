#include <tranca/shared_mutex.hpp>

#include "fence_text.hpp"

namespace tranca {

namespace {

// "end|fence|change|label", as the scripts write it; anything else has only a time.
shared_holder holder_from(std::string_view value, lock_mode mode, milliseconds remaining) {
    shared_holder found{.label = {}, .mode = mode, .fence = 0, .remaining = remaining};
    const auto after_end = value.find('|');
    if (after_end == std::string_view::npos) return found;
    const auto after_fence = value.find('|', after_end + 1);
    if (after_fence == std::string_view::npos) return found;
    const auto after_change = value.find('|', after_fence + 1);
    if (after_change == std::string_view::npos) return found;
    found.fence = fence_from(value.substr(after_end + 1, after_fence - after_end - 1));
    found.label = value.substr(after_change + 1);
    return found;
}

// What the guard holds, if it is of this lock.
std::shared_ptr<shared_lease> lease_of(const guard& held, const shared_core& core) {
    auto found = std::dynamic_pointer_cast<shared_lease>(held.held_lease());
    if (!found || found->core()->pool != core.pool || found->name() != core.name)
        throw error(errc::invalid_argument, "the guard is not of the lock \"" + core.name.printable() + "\"");
    return found;
}

}  // namespace

std::vector<shared_holder> shared_mutex::holders() const {
    const auto answer = run(*pool(), core_->call(scripts::list_shared(), std::string_view{}));
    std::vector<shared_holder> all;
    for (std::size_t i = 1; i < answer.size(); ++i)
        all.push_back(holder_from(answer[i][0].text(),
                                  answer[0].text() == "exclusive" ? lock_mode::exclusive : lock_mode::shared,
                                  milliseconds{answer[i][1].integer()}));
    return all;
}

bool shared_mutex::downgrade(guard& held) const {
    if (!held) return false;
    const auto writer = lease_of(held, *core_);
    if (writer->hear_downgrade(run(*pool(), writer->downgrade_call()))) return static_cast<bool>(held);
    return held.extend();  // which finds out that it is lost, and tells so
}

upgrade_result shared_mutex::try_upgrade_until(guard& held, clock::time_point deadline,
                                               const std::stop_token& stop) const {
    if (!held) return upgrade_result::lost;
    const auto reader = lease_of(held, *core_);
    if (reader->mode() == lock_mode::exclusive) return upgrade_result::upgraded;
    const auto claim = std::make_shared<upgrade_claim>(reader);
    auto settled = clock::now() >= deadline ? try_now(claim) : wait_for(claim, deadline, stop);
    if (!settled) return held ? upgrade_result::busy : upgrade_result::lost;
    settled->abandon();  // the reader's guard is who holds it
    if (claim->result() == upgrade_result::upgraded && held) reader->change(lock_mode::exclusive, *claim->fence());
    else if (claim->result() == upgrade_result::lost) static_cast<void>(held.extend());  // finds out, and tells
    return held ? claim->result() : upgrade_result::lost;
}

}  // namespace tranca
