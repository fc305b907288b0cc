#include <tranca/script.hpp>

#include <algorithm>
#include <memory>

#include <tranca/error.hpp>

#include "node_calls.hpp"

namespace tranca {

namespace {

// The whole text helps a server that does not know the hash; one that is out of memory, which lets a script that only
// shortens or deletes pass where it refuses a SET; and an account that may run scripts, and not the plain command instead.
bool wants_text(const script_call& call, const reply_view& answer) {
    if (!answer.is_error()) return false;
    const auto reason = classify_error_reply(answer.text());
    const bool may_help = reason == errc::out_of_memory || reason == errc::no_permission;
    return reason == errc::no_script || (may_help && !call.native.empty());
}

// The hash lives as long as the process and is used on every server: nonsense must not get in.
bool is_hash(std::string_view text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

using call_parts = std::vector<const script_call*>;

reply run_together(connection& redis, const script_call& call, std::optional<clock::time_point> deadline) {
    call_parts all;
    add_parts(call, all);
    auto answers = run_parts(redis, all, deadline);
    const auto worst = worst_of(answers);
    throw_if_error(answers[worst], all[worst]->command, redis.where(), 0, effect_of_parts(answers));
    return std::move(answers[worst]);
}

}  // namespace

void add_parts(const script_call& call, call_parts& all) {
    all.push_back(&call);
    for (const auto& other : call.also)
        all.push_back(&other);
}

std::vector<reply> run_parts(connection& redis, std::span<const script_call* const> all,
                             std::optional<clock::time_point> deadline) {
    request commands;
    for (const auto* const part : all) {
        request completed;
        commands.add_request(request_of(*part, redis, deadline, completed));
    }
    auto answers = redis.pipeline(commands, deadline);
    request again;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (wants_text(*all[i], answers[i])) again.add_request(by_text(*all[i]));
    if (again.size() == 0 || !redis.usable()) return answers;
    auto late = redis.pipeline(again, deadline);
    auto next = late.begin();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (wants_text(*all[i], answers[i])) answers[i] = std::move(*next++);
    return answers;
}

const request& request_of(const script_call& call, connection& redis, std::optional<clock::time_point> deadline,
                          request& storage) {
    for (const auto& form : call.native)
        if (redis.features(deadline).*(form.needs)) return form.command;
    if (call.has_hash) return call.command;
    call.what->learn_hash(redis, deadline);
    storage = call.command.with_first_two("EVALSHA", call.what->hash());
    return storage;
}

request by_text(const script_call& call) { return call.command.with_first_two("EVAL", call.what->text()); }

bool is_unknown_script(const reply_view& answer) {
    return answer.is_error() && classify_error_reply(answer.text()) == errc::no_script;
}

script::script(std::string_view text) noexcept : text_(text) {
    static std::atomic<unsigned> made{0};
    number_ = made.fetch_add(1) % 64;
}

void script::learn_hash(connection& redis, std::optional<clock::time_point> deadline) const {
    if (!hash().empty()) return;
    const auto answer = redis.command(request{"SCRIPT", "LOAD", text_}, deadline);
    if (!is_hash(answer.text()))
        throw error(errc::protocol,
                    "SCRIPT on " + redis.where().printable() + ": the answer is not the hash of a script");
    auto learned = std::make_unique<const std::string>(answer.text());
    const std::string* unknown = nullptr;
    if (hash_.compare_exchange_strong(unknown, learned.get())) static_cast<void>(learned.release());
}

reply run(connection& redis, const script_call& call, std::optional<clock::time_point> deadline) {
    if (!call.also.empty()) return run_together(redis, call, deadline);
    request completed;
    const auto& command = request_of(call, redis, deadline, completed);
    auto answer = redis.exchange(command, deadline);
    if (wants_text(call, answer)) return redis.command(by_text(call), deadline);
    throw_if_error(answer, command, redis.where());
    return answer;
}

std::size_t worst_of(std::span<const reply> answers) {
    const auto is_number = [](const reply& one) { return one.what() == reply_view::kind::integer; };
    const auto worst = std::ranges::min_element(answers, [&](const reply& one, const reply& other) {
        if (one.is_error() || other.is_error()) return one.is_error() && !other.is_error();
        if (!is_number(one) || !is_number(other)) return !is_number(one) && is_number(other);
        return one.integer() < other.integer();
    });
    return static_cast<std::size_t>(worst - answers.begin());
}

effect effect_of_parts(std::span<const reply> answers) {
    const bool is_done = std::ranges::any_of(answers, [](const reply& one) { return !one.is_error(); });
    return is_done ? effect::in_doubt : effect::none;
}

std::vector<reply> run_all(connection& redis, std::span<const script_call> calls,
                           std::optional<clock::time_point> deadline) {
    call_parts all;
    for (const auto& call : calls)
        add_parts(call, all);
    auto answers = run_parts(redis, all, deadline);
    if (all.size() == calls.size()) return answers;
    std::vector<reply> folded;
    auto next = answers.begin();
    for (const auto& call : calls) {
        const std::span<const reply> own{&*next, 1 + call.also.size()};
        folded.push_back(std::move(next[static_cast<std::ptrdiff_t>(worst_of(own))]));
        next += static_cast<std::ptrdiff_t>(own.size());
    }
    return folded;
}

reply run(connection_pool& pool, const repeatable_call& call, std::optional<clock::time_point> deadline, resend again) {
    if (pool.is_cluster() && !call.also.empty()) return run_by_node(pool, call, deadline, again);
    const auto about = pool.is_cluster() ? call.command.first_key() : std::string_view{};
    const auto once = [&](connection& redis) { return run(redis, call, deadline); };
    return pool.with_connection(again, about, once, deadline);
}

}  // namespace tranca
