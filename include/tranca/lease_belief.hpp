#pragma once

// What a holder believes about the time of its lease: until when it is safe, when the key is gone, when to renew. Pure: no
// clock is read, nothing is sent.
//
//     tranca::lease_belief belief{rules};
//     belief.begin(sent, clock::now());           // granted to a request sent then
//     belief.extended(later, clock::now(), 5s);   // and belief.safe_until() tells until when
//
// Promises: counts from before each request was sent. What may have been carried out without being heard of shortens what
// is safe, and lengthens what may still be there, never the other way round.
// Thread safety: times may be read at any moment; the rest is for one thread at a time, but renewal_due() and renew_soon().

#include <algorithm>
#include <atomic>
#include <optional>

#include <tranca/lease_clock.hpp>

namespace tranca {

/// See the top of this file.
class lease_belief {
public:
    /// Before something is asked again that the server could not answer, or did not.
    static constexpr milliseconds pause_between_repeats{5};

    explicit lease_belief(const lease_clock& rules) noexcept : rules_(rules) {}

    /// Granted for the usual ttl to what was sent at `sent`, as is known at `now`.
    void begin(clock::time_point sent, clock::time_point now) noexcept;

    /// Handed over by another lease of the same token at `now`: with its times, and the usual ttl from the next renewal on.
    void carry_on(const lease_belief& previous, clock::time_point now) noexcept;

    /// The server said, by `now`, that what was sent at `sent` set it to `ttl`.
    void extended(clock::time_point sent, clock::time_point now, milliseconds ttl) noexcept;

    /// Something that sets it to `ttl` was sent, the last time before `now`, and nobody knows whether or when it is carried
    /// out: it may even come after a later extension.
    void perhaps_extended(milliseconds ttl, clock::time_point now) noexcept;

    /// What can be taken back.
    struct times {
        milliseconds ttl;
        clock::time_point safe_until;
        clock::time_point expires_at;
        clock::time_point renew_at;
    };

    /// About to be asked for, at `sent`. A ttl that ends sooner than what is believed may be in force from then on,
    /// whenever that is heard of, so it is believed at once; the answer is what was believed before. Empty: no change.
    [[nodiscard]] std::optional<times> expect(clock::time_point sent, milliseconds ttl) noexcept;

    /// What was expected is known not to have been carried out.
    void restore(const times& before) noexcept;

    /// Is it time to renew? True once; the next time is set by extended() or renew_soon().
    [[nodiscard]] bool renewal_due(clock::time_point now) noexcept;

    /// The renewal did not succeed: once more, a part of the usual pause after `now`.
    void renew_soon(clock::time_point now) noexcept;

    /// Until when its holder may act.
    [[nodiscard]] clock::time_point safe_until() const noexcept { return point(safe_until_); }

    /// When the server may expire it: safe_until() and the margin.
    [[nodiscard]] clock::time_point expires_at() const noexcept { return point(expires_at_); }

    /// From when on nothing of it is there, whatever was carried out.
    [[nodiscard]] clock::time_point gone_by() const noexcept { return point(gone_by_); }

    /// When to renew it; clock::time_point::max(): not at all, or not until the renewal under way has ended.
    [[nodiscard]] clock::time_point renew_at() const noexcept { return point(renew_at_); }

    /// What is believed to be in force, and what renewals ask for.
    [[nodiscard]] milliseconds ttl() const noexcept { return milliseconds{ttl_}; }

    /// When the present holder's own time began.
    [[nodiscard]] clock::time_point begun() const noexcept { return begun_; }

    [[nodiscard]] const lease_clock& rules() const noexcept { return rules_; }

private:
    using stored_point = std::atomic<clock::rep>;

    [[nodiscard]] static clock::time_point point(const stored_point& stored) noexcept {
        return clock::time_point{clock::duration{stored}};
    }
    static void set(stored_point& stored, clock::time_point time) noexcept { stored = time.time_since_epoch().count(); }

    [[nodiscard]] milliseconds sure_of(milliseconds ttl) const noexcept {
        return std::min(ttl, milliseconds{least_unheard_});
    }
    void set_times(clock::time_point sent, milliseconds ttl) noexcept;
    void schedule_renewal(clock::time_point from) noexcept;

    lease_clock rules_;
    clock::time_point begun_{};
    // Of the extensions that may be under way still, and come last.
    std::atomic<milliseconds::rep> least_unheard_{milliseconds::max().count()};
    std::atomic<milliseconds::rep> ttl_{0};
    stored_point safe_until_{0};
    stored_point expires_at_{0};
    stored_point gone_by_{0};
    stored_point renew_at_{clock::time_point::max().time_since_epoch().count()};
};

}  // namespace tranca
