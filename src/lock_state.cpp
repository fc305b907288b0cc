#include <tranca/lock_state.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <span>

#include <tranca/helper_key.hpp>

namespace tranca {

namespace {

constexpr std::size_t keys_a_round = 1'000;
constexpr std::int64_t no_such_key = -2;  // PTTL's answer

// "token|fence|label", as a mutex writes it. Anything else is a lock of somebody else's making.
void read_value(std::string_view value, lock_state& found) {
    const auto after_token = value.find('|');
    if (after_token != 32) return;
    const auto after_fence = value.find('|', after_token + 1);
    if (after_fence == std::string_view::npos) return;
    found.label = value.substr(after_fence + 1);
    std::uint64_t fence = 0;
    const auto* const end = value.data() + after_fence;
    if (std::from_chars(value.data() + after_token + 1, end, fence).ptr == end && fence > 0) found.fence = fence;
}

lock_state state_of(std::string name, const reply_view& value, const reply_view& left, bool waiters) {
    // It may have ended between the two questions.
    const bool held = !value.is_nil() && left.integer() != no_such_key;
    lock_state found{.name = std::move(name), .held = held, .waiters = waiters};
    if (!found.held) return found;
    read_value(value.text(), found);
    if (left.integer() >= 0) found.remaining = milliseconds{left.integer()};
    return found;
}

request questions_about(std::string_view name) {
    return request{"GET", name}.add("PTTL", name).add("EXISTS", helper_key(name, "wait"), helper_key(name, "queue"));
}

std::vector<std::string> scan(connection& redis, std::string_view pattern) {
    std::set<std::string> names;  // SCAN may tell of a key twice
    std::string cursor = "0";
    do {
        const auto answer =
            redis.command(request{"SCAN", cursor, "MATCH", pattern, "COUNT", keys_a_round, "TYPE", "string"});
        cursor = answer[0].text();
        for (std::size_t i = 0; i < answer[1].size(); ++i)
            names.emplace(answer[1][i].text());
    } while (cursor != "0");
    return {names.begin(), names.end()};
}

// On its way to another node of a Cluster.
bool is_elsewhere(const reply& answer) {
    const auto reason = answer.is_error() ? classify_error_reply(answer.text()) : errc{};
    return reason == errc::moved || reason == errc::ask || reason == errc::try_again;
}

std::vector<lock_state> locks_at(connection& line, std::string_view pattern) {
    const auto names = scan(line, pattern);
    std::vector<lock_state> all;
    for (std::size_t first = 0; first < names.size(); first += keys_a_round) {
        const auto last = std::min(first + keys_a_round, names.size());
        request questions;
        for (auto i = first; i < last; ++i)
            questions.add_request(questions_about(names[i]));
        const auto answers = line.pipeline(questions);
        for (auto i = first; i < last; ++i) {
            const std::span about{&answers[3 * (i - first)], 3};
            if (about[0].is_nil() || about[0].is_error()) continue;  // gone, or no string any more
            if (std::ranges::any_of(about, is_elsewhere)) continue;
            auto state = state_of(names[i], about[0], about[1], about[2].integer() != 0);
            if (state.held) all.push_back(std::move(state));
        }
    }
    return all;
}

}  // namespace

lock_state inspect_lock(connection_pool& pool, const key& name) {
    return pool.with_connection(resend::safe, name.bytes(), [&](connection& redis) {
        const auto answers = redis.transaction(questions_about(name.bytes()));
        return state_of(std::string{name.bytes()}, answers[0], answers[1], answers[2].integer() != 0);
    });
}

std::vector<lock_state> find_locks(const client& redis, std::string_view pattern) {
    auto& pool = *redis.pool();
    if (!pool.is_cluster())
        return pool.with_connection(resend::safe, {}, [&](connection& line) { return locks_at(line, pattern); });
    std::vector<lock_state> all;
    for (const auto& node : pool.masters()) {
        auto line = pool.borrow_from(node);
        std::ranges::move(locks_at(*line, pattern), std::back_inserter(all));
    }
    std::ranges::sort(all, {}, &lock_state::name);
    const auto same = [](const lock_state& one, const lock_state& other) { return one.name == other.name; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    return all;
}

}  // namespace tranca
