// What a quorum gives back: what an attempt in vain left behind, and what a release or an extension asks of all nodes.
#include <algorithm>
#include <exception>
#include <utility>

#include <tranca/quorum_lease.hpp>

#include "ballot.hpp"
#include "quorum_findings.hpp"

namespace tranca {

namespace {

std::int64_t integer_or_zero(const reply_view& answer) {
    return answer.what() == reply_view::kind::integer ? answer.integer() : 0;
}

// So that the next question goes another way.
std::optional<owing_connection> set_aside(quorum_line& line) {
    if (!line.redis) return std::nullopt;
    owing_connection made{std::move(*line.redis), std::exchange(line.words, {}), line.since};
    line.redis.reset();
    line.since.reset();
    return made;
}

}  // namespace

// On every node that may hold it. True: nothing is left anywhere. Who owes an answer may owe it for long: if there is no
// majority to go on with, it is asked on another connection. Only that something was removed there proves anything.
bool quorum_lease::take_back(clock::time_point expiry, whom waits_for) noexcept {
    try {
        const auto call = release_call();
        const last_word word{by_text(call), expiry};
        std::vector<std::optional<owing_connection>> owing(lines_->size());
        {
            std::vector<bool> awaited(lines_->size(), false);
            const script_call whole{call.what, word.command, true};
            ballot question{*lines_, whole, clock::now() + core_->time_limit};
            for (std::size_t node = 0; node < lines_->size(); ++node) {
                auto& line = (*lines_)[node];
                if (line.held != hold::maybe) continue;
                awaited[node] = waits_for == whom::all || !line.redis;
                if (waits_for == whom::all) owing[node] = set_aside(line);
                question.put(node);
            }
            question.skip_hopeless(core_->needed);
            while (std::ranges::find(awaited, true) != awaited.end()) {
                const auto heard = question.next();
                if (!heard) break;
                awaited[heard->node] = false;
                if (heard->said && (!owing[heard->node] || integer_or_zero(*heard->said) == 1))
                    (*lines_)[heard->node].held = hold::settled;
            }
        }
        return leave(owing, word);
    } catch (const std::exception&) {
        return false;  // no memory: the ttl is the backstop
    }
}

// What is not settled is said once more behind what is owed there.
bool quorum_lease::leave(std::vector<std::optional<owing_connection>>& owing, const last_word& word) {
    bool settled = true;
    for (std::size_t node = 0; node < lines_->size(); ++node) {
        auto& line = (*lines_)[node];
        const bool is_due = line.held == hold::maybe;
        settled = settled && !is_due;
        if (!owing[node]) continue;
        try {
            if (is_due && owing[node]->redis.usable()) owing[node]->redis.send(word.command);
        } catch (const error&) {
            // It broke: then the word goes another way.
        }
        auto& words = owing[node]->words;
        if (is_due) words.push_back(word);
        line.node->leave(*std::move(owing[node]));
    }
    lines_->end(word);
    return settled;
}

// Extends or releases: 1 by a majority, 0 or -1 if there is none to be had, and an error if that is open.
std::int64_t quorum_lease::ask(const repeatable_call& call, std::optional<clock::time_point> deadline, resend) {
    const bool is_release = call.what == &release_script();
    const auto now = clock::now();
    const auto until = std::min(now + core_->time_limit, deadline.value_or(clock::time_point::max()));
    tally votes{core_->nodes.size()};
    bool is_taken = false;
    std::vector<error> failures;
    {
        ballot question{*lines_, call, until};
        for (std::size_t node = 0; node < core_->nodes.size(); ++node)
            question.put(node);
        question.skip_hopeless(votes.needed());
        count_answers(question, votes, [&](const node_answer& heard) {
            if (heard.failure) failures.push_back(*heard.failure);
            const auto answer = heard.said ? heard.said->integer() : 0;
            if (answer == -1) is_taken = true;
            if (heard.said && is_release) (*lines_)[heard.node].held = hold::settled;
            return answer == 1 ? vote::confirmed : heard.said ? vote::refused : vote::silent;
        });
        if (votes.state() == tally::stand::won && !is_release) question.reach_the_rest();
    }
    if (is_release) lines_->end(last_word{by_text(call), std::max(gone_by(), now + usual_ttl())});
    if (votes.state() == tally::stand::won) return 1;
    if (votes.is_refused()) return is_taken ? -1 : 0;
    throw no_majority(is_release ? "releasing" : "extending", name(), votes, failures);
}

}  // namespace tranca
