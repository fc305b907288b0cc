// How a wait goes on after a failure, and what it takes back at its end.
#include <algorithm>
#include <utility>

#include <tranca/pause.hpp>
#include <tranca/script.hpp>

#include "waiter.hpp"

namespace tranca {

namespace {

// Before a server that is away is tried again.
constexpr milliseconds pause_while_away{20};

}  // namespace

// A connection that broke or fell silent is replaced once: the old one is killed, with what it may still carry, and
// asking again with the same token finds out how it went. A server that is away is asked, with the same token too, until the
// wait is over. Where that cannot be had, what was asked is undone.
void waiter::recover(const error& failure) {
    unheard_ = unheard_ || failure.in_doubt();
    if (line_ && failure.reason() == errc::protocol) (*line_)->retire();
    if (pool_.is_cluster() && goes_on_in_cluster(failure)) return;
    const bool known = line_ && (*line_)->id().value_or(0) > 0;
    const bool again = !recovered_ && !stopped();
    if (failure.in_doubt() && known && again) doubtful_ = identity{*(*line_)->id(), (*line_)->address()};
    line_.reset();
    way_ = {};
    knows_ = false;
    const bool repeated = std::exchange(recovered_, true);
    if (doubtful_ && again) return pool_.drop_idle(about());
    if (!over() && detail::is_outage(pool_, failure, deadline_)) return wait_out(failure, repeated);
    // Throws, unless another attempt makes sense.
    detail::settle_failure(*candidate_, failure, unheard_ ? steps::several : steps::one, again);
    unheard_ = false;
}

// Sent to another node: there at once, with the same token; what stood in the same write may have been granted here. Asked to try
// again: from the slot's own node, after a while. Nothing was done by the command that says it.
bool waiter::goes_on_in_cluster(const error& failure) {
    const bool elsewhere = failure.reason() == errc::moved || failure.reason() == errc::ask;
    if (!elsewhere && failure.reason() != errc::try_again && failure.reason() != errc::cluster_down) return false;
    const bool may_follow = elsewhere && !way_.is_exhausted();
    const auto named = line_ ? (*line_)->redirected() : std::nullopt;
    if (may_follow && named && pool_.redirect(way_, *named)) {
        line_.reset();
        knows_ = false;
        return true;
    }
    if (over()) return false;
    if (failure.reason() == errc::cluster_down) pool_.doubt_map();
    line_.reset();
    way_ = {};
    knows_ = false;
    static_cast<void>(pause_until(std::min(deadline_, clock::now() + pause_while_away), stop_, pool_.closing()));
    return true;
}

// The first loss of a connection is followed at once: most often there is another.
void waiter::wait_out(const error& outage, bool repeated) const {
    if (outage.reason() != errc::connect_failed) pool_.drop_idle(about());
    if (!repeated && outage.reason() == errc::connection_lost) return;
    const auto until = std::min(deadline_, clock::now() + pause_while_away);
    static_cast<void>(pause_until(until, stop_, pool_.closing()));  // stopped or not: the next round sees
}

// What keeps others out is taken back; a failure is no reason to call it anything but busy: it ends by itself.
std::optional<guard> waiter::withdraw() {
    if (!line_ || !asked_ || !candidate_->leaves_a_claim()) return std::nullopt;
    try {
        if (pool_.is_cluster()) tranca::run(pool_, candidate_->release_call());
        else static_cast<void>(tranca::run(**line_, candidate_->release_call()));
    } catch (const error&) {
        line_.reset();
    }
    return std::nullopt;
}

}  // namespace tranca
