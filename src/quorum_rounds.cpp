// The questions of an attempt at a quorum: may the account, is it granted, and a second round for a larger fence.
#include <algorithm>
#include <string>

#include <tranca/quorum_lease.hpp>
#include <tranca/scripts.hpp>

#include "ballot.hpp"
#include "fence_text.hpp"
#include "quorum_findings.hpp"

namespace tranca {

namespace {

milliseconds time_left_of(std::int64_t left) { return left < 0 ? milliseconds::max() : milliseconds{left}; }

}  // namespace

// An account that may not release is not to take: asked once a client, with a token that nobody holds.
void quorum_lease::require_rights(findings& found) {
    const auto number = release_script().number();
    found.excluded.assign(core_->nodes.size(), false);
    const auto known = static_cast<std::size_t>(
        std::ranges::count_if(core_->nodes, [&](const auto& node) { return node->checked(number); }));
    // Not on the last of them: one that hangs is not to be waited for.
    auto needed = tally::majority_of(core_->nodes.size());
    if (known >= needed) return;
    needed -= known;
    ballot question{*lines_, release_call(), clock::now() + core_->time_limit, found.cut};
    for (std::size_t node = 0; node < core_->nodes.size(); ++node)
        if (!core_->nodes[node]->checked(number)) question.put(node);
    question.skip_hopeless(tally::majority_of(core_->nodes.size()));
    while (needed > 0) {
        const auto heard = question.next();
        if (!heard) return;
        if (heard->said) {
            core_->nodes[heard->node]->set_checked(number);
            --needed;
        }
        if (!heard->failure || heard->failure->reason() != errc::no_permission) continue;
        found.excluded[heard->node] = true;
        found.failures.emplace_back(heard->failure->reason(), heard->failure->text());
    }
}

vote quorum_lease::vote_of(const node_answer& heard, findings& found) {
    auto& line = (*lines_)[heard.node];
    if (heard.failure) {
        // An error reply is an answer: nothing was done.
        if (!heard.failure->in_doubt()) line.held = hold::none;
        found.failures.push_back(*heard.failure);
        return vote::silent;
    }
    const auto& answer = *heard.said;
    const bool is_text = answer.what() == reply_view::kind::text;
    // Without a fence: the native form tells what was there before, the script nothing.
    if (proposed_ == 0 && (answer.is_nil() || (is_text && answer.text().empty()))) return vote::confirmed;
    if (proposed_ == 0 && is_text) {
        if (answer.text().starts_with(owner().text())) return vote::confirmed;
        line.held = hold::none;
        return vote::refused;
    }
    const auto digits = is_text ? answer.text() : answer[2].text();
    const auto fence = digits.empty() ? 0 : fence_from(digits);
    found.largest = std::max(found.largest, fence);
    if (is_text) return fence == proposed_ ? vote::confirmed : vote::granted;
    if (answer[0].integer() != 0) return vote::granted;
    line.held = hold::none;
    found.busy.push_back(time_left_of(answer[1].integer()));
    return vote::refused;
}

tally quorum_lease::propose(findings& found, clock::time_point sent) {
    tally votes{core_->nodes.size(), core_->needed};
    ballot question{*lines_, acquire_call(), sent + core_->time_limit, found.cut};
    for (std::size_t node = 0; node < core_->nodes.size(); ++node) {
        if (found.excluded[node]) {
            votes.count(vote::silent);
            continue;
        }
        (*lines_)[node].held = hold::maybe;
        question.put(node);
    }
    question.skip_hopeless(core_->needed);
    count_answers(question, votes, [&](const node_answer& heard) { return vote_of(heard, found); });
    if (votes.state() == tally::stand::won || votes.state() == tally::stand::raise) question.reach_the_rest();
    for (std::size_t node = 0; node < core_->nodes.size(); ++node)
        if (!question.was_sent(node)) (*lines_)[node].held = hold::none;
    return votes;
}

// The second round: a number above all that was heard of, on every node that has not said no.
tally quorum_lease::raise(findings& found) {
    learn(found.largest);
    proposed_ = core_->fences->largest() + 1;
    ++votes_.round_trips;
    tally votes{core_->nodes.size(), core_->needed};
    ballot question{*lines_, raise_call(), clock::now() + core_->time_limit, found.cut};
    for (std::size_t node = 0; node < core_->nodes.size(); ++node) {
        if ((*lines_)[node].held == hold::maybe) question.put(node);
        else votes.count(vote::refused);
    }
    question.skip_hopeless(core_->needed);
    count_answers(question, votes, [&](const node_answer& heard) {
        if (heard.failure) found.failures.push_back(*heard.failure);
        const bool stored = heard.said && heard.said->integer() == 1;
        return stored ? vote::confirmed : heard.said ? vote::refused : vote::silent;
    });
    return votes;
}

}  // namespace tranca
