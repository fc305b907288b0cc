#include <tranca/script.hpp>

#include <memory>

#include <tranca/error.hpp>

namespace tranca {

namespace {

// The whole text helps a server that does not know the hash, and one that is out of memory: it lets a script that only
// shortens or deletes pass where it refuses a SET.
bool wants_text(const script_call& call, const reply_view& answer) {
    if (!answer.is_error()) return false;
    const auto reason = classify_error_reply(answer.text());
    return reason == errc::no_script || (reason == errc::out_of_memory && !call.native.empty());
}

// The hash lives as long as the process and is used on every server: nonsense must not get in.
bool is_hash(std::string_view text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

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
    request completed;
    const auto& command = request_of(call, redis, deadline, completed);
    auto answer = redis.exchange(command, deadline);
    if (wants_text(call, answer)) return redis.command(by_text(call), deadline);
    throw_if_error(answer, command, redis.where());
    return answer;
}

std::vector<reply> run_all(connection& redis, std::span<const script_call> calls,
                           std::optional<clock::time_point> deadline) {
    request all;
    for (const auto& call : calls) {
        request completed;
        all.add_request(request_of(call, redis, deadline, completed));
    }
    auto answers = redis.pipeline(all, deadline);
    request again;
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (wants_text(calls[i], answers[i])) again.add_request(by_text(calls[i]));
    if (again.size() == 0 || !redis.usable()) return answers;
    auto late = redis.pipeline(again, deadline);
    auto next = late.begin();
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (wants_text(calls[i], answers[i])) answers[i] = std::move(*next++);
    return answers;
}

reply run(connection_pool& pool, const repeatable_call& call, std::optional<clock::time_point> deadline) {
    return pool.with_connection(resend::safe, [&](connection& redis) { return run(redis, call, deadline); });
}

}  // namespace tranca
