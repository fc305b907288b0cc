#include <tranca/lease_belief.hpp>

namespace tranca {

void lease_belief::set_times(clock::time_point sent, milliseconds ttl) noexcept {
    ttl_ = ttl.count();
    const auto sure = sure_of(ttl);
    set(safe_until_, rules_.safe_until(sent, sure));
    set(expires_at_, rules_.expires_at(sent, sure));
    schedule_renewal(sent);
}

void lease_belief::schedule_renewal(clock::time_point from) noexcept {
    auto next = clock::time_point::max();
    if (rules_.renew_every() > milliseconds::zero()) {
        // A ttl that an extension made shorter is renewed sooner.
        const auto pause = std::min(rules_.renew_every(), sure_of(ttl()) / 3);
        if (from + pause <= rules_.renewed_until(begun_)) next = from + pause;
    }
    set(renew_at_, next);
}

void lease_belief::begin(clock::time_point sent, clock::time_point now) noexcept {
    begun_ = sent;
    set_times(sent, rules_.ttl());
    set(gone_by_, rules_.gone_by(now, rules_.ttl()));
}

void lease_belief::carry_on(const lease_belief& previous, clock::time_point now) noexcept {
    begun_ = now;
    ttl_ = rules_.ttl().count();  // whatever the one before had extended it by
    set(safe_until_, previous.safe_until());
    set(expires_at_, previous.expires_at());
    set(gone_by_, previous.gone_by());
    least_unheard_ = previous.least_unheard_.load();
    // Due when it would have been due, but counted from the new holder's beginning.
    schedule_renewal(now);
    set(renew_at_, std::min(renew_at(), previous.renew_at()));
}

void lease_belief::extended(clock::time_point sent, clock::time_point now, milliseconds ttl) noexcept {
    set_times(sent, ttl);
    const auto end = rules_.gone_by(now, ttl);
    // What nobody heard of may come last, and stay longer.
    const bool all_heard = milliseconds{least_unheard_} == milliseconds::max();
    set(gone_by_, all_heard ? end : std::max(gone_by(), end));
}

void lease_belief::perhaps_extended(milliseconds ttl, clock::time_point now) noexcept {
    least_unheard_ = sure_of(ttl).count();
    set(gone_by_, std::max(gone_by(), rules_.gone_by(now, ttl)));
}

std::optional<lease_belief::times> lease_belief::expect(clock::time_point sent, milliseconds ttl) noexcept {
    if (rules_.safe_until(sent, ttl) >= safe_until()) return std::nullopt;
    const times before{this->ttl(), safe_until(), expires_at(), renew_at()};
    set_times(sent, ttl);
    return before;
}

void lease_belief::restore(const times& before) noexcept {
    ttl_ = before.ttl.count();
    set(safe_until_, before.safe_until);
    set(expires_at_, before.expires_at);
    set(renew_at_, before.renew_at);
}

bool lease_belief::renewal_due(clock::time_point now) noexcept {
    if (now < renew_at()) return false;
    set(renew_at_, clock::time_point::max());
    return true;
}

void lease_belief::renew_soon(clock::time_point now) noexcept {
    // A ttl that an extension made shorter leaves less time for that, too.
    const auto pause = std::min(rules_.renew_every(), sure_of(ttl()) / 3) / 8;
    const auto next = now + std::max(pause, pause_between_repeats);
    set(renew_at_, next <= rules_.renewed_until(begun_) ? next : clock::time_point::max());
}

}  // namespace tranca
