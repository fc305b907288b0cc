#include <tranca/quorum_lease.hpp>

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>

#include <tranca/error.hpp>
#include <tranca/scripts.hpp>

#include "quorum_findings.hpp"
#include "quorum_lines.hpp"

namespace tranca {

namespace {

// A number to begin with, not a time to rely on: a wrong one costs a round trip.
std::uint64_t wall_microseconds() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count(), 0));
}

constexpr std::size_t most_named = 5;

}  // namespace

error no_majority(std::string_view what, const key& name, const tally& votes, const std::vector<error>& failures) {
    std::string text = fmt::format("{} \"{}\": {} of {} nodes gave no answer, {} are needed", what, name.printable(),
                                   votes.silent() + votes.pending(), votes.nodes(), votes.needed());
    auto reason = errc::timeout;
    // Some of them have done it, or were asked and may have.
    const bool is_open = votes.said_yes() > 0 || votes.silent() + votes.pending() > failures.size();
    auto outcome = is_open ? effect::in_doubt : effect::none;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        if (i == 0) reason = failures[i].reason();
        if (i < most_named) text.append("; ").append(failures[i].text());
        if (failures[i].in_doubt()) outcome = effect::in_doubt;
    }
    return {reason, text, outcome};
}

quorum_lease::quorum_lease(std::shared_ptr<const quorum_core> core)
    : lease(core->nodes.front(), core->name, core->rules),
      core_(std::move(core)),
      queue_(core_->queue),
      lines_(std::make_unique<quorum_lines>(core_->nodes)) {}

quorum_lease::~quorum_lease() = default;

const script& quorum_lease::release_script() const noexcept { return scripts::release_quorum(); }

repeatable_call quorum_lease::release_call_of(const token& whose) const {
    return scripts::release_quorum().call({name().bytes()}, whose);
}

repeatable_call quorum_lease::extend_call(milliseconds ttl) const {
    return scripts::extend_mutex().call({name().bytes()}, owner(), ttl);
}

repeatable_call quorum_lease::acquire_call() const {
    if (proposed_ != 0)
        return scripts::acquire_quorum().call({name().bytes(), core_->fence_key}, owner(), core_->options.label,
                                              usual_ttl(), proposed_, proposed_ - 8);
    auto made = scripts::acquire_quorum().call({name().bytes(), core_->fence_key}, owner(), core_->options.label,
                                               usual_ttl(), std::string_view{}, std::string_view{});
    const auto value = std::string{owner().text()}.append("||").append(core_->options.label);
    made.native.push_back(
        {&server_features::set_nx_get, request{"SET", name(), value, "NX", "GET", "PX", usual_ttl()}});
    return made;
}

repeatable_call quorum_lease::raise_call() const {
    return scripts::raise_quorum().call({name().bytes(), core_->fence_key}, owner(), core_->options.label, usual_ttl(),
                                        std::to_string(proposed_));
}

void quorum_lease::learn(std::uint64_t seen) const noexcept {
    if (seen == 0) return;
    core_->fences->learn(seen, wall_microseconds());
}

// Also above what the clients have seen on other keys, unless that is far ahead of the time: then it is a mistake.
std::uint64_t quorum_lease::fence_to_propose() const noexcept {
    constexpr std::uint64_t ten_minutes = 600'000'000;
    const auto now = wall_microseconds();
    for (const auto& node : core_->nodes)
        if (node->largest_fence() <= now + ten_minutes) core_->fences->learn(node->largest_fence(), now);
    return core_->fences->propose(now);
}

quorum_lease::verdict quorum_lease::attempt(const std::stop_token& stop) {
    findings found;
    if (stop.stop_possible()) found.cut = [&] { return found.was_cut = stop.stop_requested(); };
    try {
        require_rights(found);
        if (found.was_cut) return {};
        if (core_->options.fencing == fencing::on) proposed_ = fence_to_propose();
        const auto sent = clock::now();
        votes_ = {.nodes = core_->nodes.size(), .round_trips = 1};
        auto votes = propose(found, sent);
        votes_.granted_on = votes.said_yes();
        if (votes.state() == tally::stand::raise) votes = raise(found);
        votes_.confirmed_on = votes.confirmed();
        learn(std::max(found.largest, votes.confirmed() > 0 ? proposed_ : 0));
        const bool won = votes.state() == tally::stand::won;
        if (won && !found.was_cut && claim(sent)) return {.granted = true};
        return decline(found, votes, sent + usual_ttl());
    } catch (...) {
        static_cast<void>(take_back(clock::now() + usual_ttl(), whom::answering));
        throw;
    }
}

bool quorum_lease::claim(clock::time_point sent) {
    if (proposed_ != 0) fence_ = proposed_;
    begin(sent);
    if (!held()) return false;
    for (const auto& node : core_->nodes)
        node->remember_fence(proposed_);
    return true;
}

// Busy, stopped, or an error: in any case nothing is to be left.
quorum_lease::verdict quorum_lease::decline(findings& found, const tally& votes, clock::time_point expiry) {
    const bool in_vain = votes.is_unreachable() && !found.was_cut;
    const bool settled = take_back(expiry, in_vain ? whom::all : whom::answering);
    if (found.was_cut) return {};
    if (votes.state() != tally::stand::won && !in_vain) return {.granted = false, .busy_for = busy_time(found, votes)};
    const auto doubt = settled ? effect::none : effect::in_doubt;
    if (!in_vain)
        throw error(
            errc::timeout,
            fmt::format("acquiring \"{}\": the answers came when the lease was already over", name().printable()),
            doubt);
    const auto failure = no_majority("acquiring", name(), votes, found.failures);
    if (!settled) pool().report(event::kind::undo_failed, name(), failure.text());
    throw error(failure.reason(), failure.text(), doubt);
}

// Until as many of the nodes that refused may be free as were missing.
milliseconds quorum_lease::busy_time(findings& found, const tally& votes) {
    if (found.busy.empty()) return milliseconds::zero();
    std::ranges::sort(found.busy);
    const auto missing = votes.needed() - std::min(votes.needed(), votes.said_yes() + 1);
    return found.busy[std::min(missing, found.busy.size() - 1)];
}

}  // namespace tranca
