#include "node_calls.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include <tranca/error.hpp>
#include <tranca/redirection.hpp>

#include "cluster_router.hpp"

namespace tranca {

namespace {

constexpr milliseconds pause_between_rounds{10};

bool passes_by_itself(const reply& answer) {
    return answer.is_error() && is_temporary(classify_error_reply(answer.text()));
}

}  // namespace

node_calls::node_calls(connection_pool& pool, const std::vector<const script_call*>& parts) : pool_(pool) {
    parts_.reserve(parts.size());
    for (const auto* const each : parts)
        parts_.push_back({.call = each, .key = each->command.first_key()});
}

void node_calls::run(std::optional<clock::time_point> until) {
    for (auto& each : parts_) {
        each.open = !each.answer || passes_by_itself(*each.answer);
        each.way = {};
    }
    for (;;) {
        const auto some = take_those_of_one_node();
        if (some.empty()) return;
        ask(some, until);
    }
}

// Those that go where the first open one goes.
std::vector<node_calls::part*> node_calls::take_those_of_one_node() {
    std::vector<part*> some;
    const auto where_to = [&](const part& one) {
        return one.way.ask ? one.way.ask : std::optional{address_of(pool_.server(one.key))};
    };
    for (auto& each : parts_) {
        if (!each.open) continue;
        const bool fits = some.empty() || (where_to(each) == where_to(*some.front()) &&
                                           each.way.ask.has_value() == some.front()->way.ask.has_value());
        if (!fits) continue;
        some.push_back(&each);
    }
    for (auto* const each : some)
        each->open = false;
    return some;
}

void node_calls::ask(const std::vector<part*>& some, std::optional<clock::time_point> until) {
    std::vector<const script_call*> calls;
    for (const auto* const each : some)
        calls.push_back(each->call);
    try {
        auto redis = pool_.borrow(some.front()->key, some.front()->way);
        auto answers = run_parts(*redis, calls, until);
        for (std::size_t i = 0; i < some.size(); ++i)
            hear(*some[i], std::move(answers[i]), *redis);
    } catch (const error& failure) {
        failure_ = failure;
        unheard_ = unheard_ || failure.in_doubt();
    }
}

void node_calls::hear(part& one, reply answer, const connection& redis) {
    const auto elsewhere = answer.is_error() ? redirection_in(answer.text(), address_of(redis.where())) : std::nullopt;
    one.open = elsewhere && pool_.redirect(one.way, *elsewhere);
    one.answer = std::move(answer);
}

const reply* node_calls::answer(std::size_t index) const noexcept {
    const auto& found = parts_[index].answer;
    return found ? &*found : nullptr;
}

bool node_calls::settled() const {
    return std::ranges::all_of(
        parts_, [](const part& one) { return one.answer.has_value() && !passes_by_itself(*one.answer); });
}

reply node_calls::worst() && {
    std::vector<reply> answers;
    for (auto& each : parts_)
        if (each.answer) answers.push_back(std::move(*each.answer));
    const auto outcome = unheard_ ? effect::in_doubt : effect_of_parts(answers);
    if (answers.size() < parts_.size()) throw error(failure_->reason(), failure_->text(), outcome);
    const auto worst = worst_of(answers);
    const auto& which = parts_[worst];
    if (which.way.is_exhausted() && answers[worst].is_error())
        throw error(errc::try_again, which.call->command.describe() + ": redirected too often", outcome);
    throw_if_error(answers[worst], which.call->command, pool_.server(which.key), 0, outcome);
    return std::move(answers[worst]);
}

reply run_by_node(connection_pool& pool, const repeatable_call& call, std::optional<clock::time_point> deadline,
                  resend again) {
    std::vector<const script_call*> parts;
    add_parts(call, parts);
    node_calls round{pool, parts};
    const auto until = deadline.value_or(deadline_after(pool.where().command_timeout));
    round.run(deadline);
    const auto may_go_on = [&] { return again == resend::safe || !round.unheard(); };
    while (!round.settled() && may_go_on() && clock::now() + pause_between_rounds < until) {
        std::this_thread::sleep_for(pause_between_rounds);
        round.run(deadline);
    }
    return std::move(round).worst();
}

}  // namespace tranca
