#include <tranca/attempt.hpp>

#include <algorithm>
#include <string>
#include <thread>

#include <fmt/format.h>

#include <tranca/script.hpp>

namespace tranca::detail {

namespace {

// Enough for a healthy server far away, little enough for a caller whose server is frozen.
constexpr milliseconds undo_budget{250};

// Between two tries to say it, where a node of a Cluster asks for another.
constexpr milliseconds pause_before_last_word{5};

// By a node of a Cluster, which did nothing.
bool is_sent_away(const error& failure) noexcept {
    switch (failure.reason()) {
    case errc::moved:
    case errc::ask:
    case errc::try_again:
    case errc::cluster_down: return true;
    default: return false;
    }
}

bool broke(const error& failure) noexcept { return failure.reason() == errc::connection_lost; }

// True if the server answered that it removed the token: what had been done is undone.
bool removed(const reply* answer) {
    return answer != nullptr && answer->what() == reply_view::kind::integer && answer->integer() == 1;
}

bool answered(const reply* answer) { return answer != nullptr && answer->what() == reply_view::kind::integer; }

request whole_text_of(const script_call& call) {
    auto all = by_text(call);
    for (const auto& other : call.also)
        all.add_request(by_text(other));
    return all;
}

// nullopt: nothing that is an answer in time.
std::optional<reply> last_word_in_cluster(connection_pool& pool, std::string_view about, const request& last,
                                          clock::time_point until) {
    for (std::optional<redirection> sent;;) {
        const auto left = ceil_milliseconds(until - clock::now());
        if (left <= milliseconds::zero()) return std::nullopt;
        const bool asks = sent && sent->kind == redirection::kinds::ask;
        auto where = pool.server(about);
        if (sent) where.host = sent->to.host, where.port = sent->to.port;
        if (where.host.empty()) return std::nullopt;
        auto answers = connection::send_last_word(where, asks ? last.each_after(request{"ASKING"}) : last, left);
        if (answers.empty()) return std::nullopt;
        auto answer = std::move(answers.back());
        if (!answer.is_error()) return answer;
        sent = redirection_in(answer.text(), {where.host, where.port});
        const bool later = is_temporary(classify_error_reply(answer.text()));
        if (!sent && !later) return std::nullopt;
        if (!sent) std::this_thread::sleep_for(std::min(left, pause_before_last_word));
    }
}

// Where each part's keys live, or had been moved to. One that does not answer leaves the others their share of the time.
std::vector<reply> last_words_in_cluster(connection_pool& pool, const script_call& call, milliseconds budget) {
    const auto until = deadline_after(budget);
    std::vector<const script_call*> parts;
    add_parts(call, parts);
    std::vector<reply> answers;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto now = clock::now();
        const auto share = (until - now) / static_cast<clock::rep>(parts.size() - i);
        auto answer = last_word_in_cluster(pool, parts[i]->command.first_key(), by_text(*parts[i]), now + share);
        if (answer) answers.push_back(std::move(*answer));
    }
    if (answers.size() < parts.size()) answers.clear();
    return answers;
}

std::vector<reply> last_words(connection_pool& pool, const script_call& call) {
    const auto budget = std::min(undo_budget, pool.where().command_timeout);
    if (pool.is_cluster()) return last_words_in_cluster(pool, call, budget);
    return connection::send_last_word(pool.server(), whole_text_of(call), budget);
}

// Nobody holds this token: it changes nothing, is never in doubt, and harms no grant should it come late.
repeatable_call harmless_release(const lease& candidate) { return candidate.release_call_of(token::generate()); }

}  // namespace

void require_release_rights(const lease& candidate) {
    auto& pool = candidate.pool();
    const auto number = candidate.release_script().number();
    const auto about = candidate.name().bytes();
    if (pool.checked(number, about)) return;
    const auto call = harmless_release(candidate);
    try {
        pool.with_connection(
            resend::safe, about, [&](connection& redis) { return run(redis, call); }, clock::now());
    } catch (const error& failure) {
        // While a slot is on its way the attempt will hear the same, and knows for how long to bear it.
        if (pool.is_cluster() && failure.reason() == errc::try_again) return;
        if (failure.reason() != errc::wrong_type) throw error(failure.reason(), failure.text());
    }
    pool.set_checked(number, about);
}

void require_release_rights(const lease& candidate, connection& redis) {
    auto& pool = candidate.pool();
    const auto number = candidate.release_script().number();
    if (pool.is_cluster() || pool.checked(number)) return;
    try {
        run(redis, harmless_release(candidate));
    } catch (const error& failure) {
        if (failure.reason() != errc::wrong_type) throw error(failure.reason(), failure.text());
    }
    pool.set_checked(number);
}

bool is_outage(const connection_pool& pool, const error& failure, clock::time_point deadline) noexcept {
    if (deadline == clock::time_point::max() && !pool.was_reached()) return false;
    switch (failure.reason()) {
    case errc::connect_failed:
    case errc::connection_lost: return true;
    case errc::timeout: return pool.fails_over();
    default: return false;
    }
}

void settle_failure(const lease& candidate, const error& failure, steps count, bool first) {
    auto& pool = candidate.pool();
    const bool nothing_was_done = !failure.in_doubt() && count == steps::one;
    if (nothing_was_done) {
        if (!broke(failure) || !first) throw failure;
        pool.drop_idle(candidate.name().bytes());
        return;
    }
    const auto answers = last_words(pool, candidate.release_call());
    const auto* const answer = answers.empty() ? nullptr : &answers[worst_of(answers)];
    if (!answered(answer)) pool.report(event::kind::undo_failed, candidate.name(), failure.what());
    // A server that hung up reads no more of what was sent to it; one that is merely slow may.
    const bool settled = removed(answer) || (answered(answer) && (broke(failure) || !failure.in_doubt()));
    if (settled && broke(failure) && first) {
        pool.drop_idle(candidate.name().bytes());
        return;
    }
    throw error(failure.reason(), failure.text(), settled ? effect::none : effect::in_doubt);
}

bool goes_on_in_cluster(const lease& candidate, const error& failure, steps count, connection& used, detour& way) {
    auto& pool = candidate.pool();
    if (!pool.is_cluster() || failure.in_doubt()) return false;
    if (count == steps::several && is_sent_away(failure)) {
        const auto answers = last_words(pool, candidate.release_call());
        if (answers.empty() || !answered(&answers[worst_of(answers)])) return false;
    }
    return pool.follow(way, used, failure);
}

void give_back_late_grant(const lease& candidate) {
    run(candidate.pool(), candidate.release_call());
    throw error(errc::timeout, fmt::format("acquiring \"{}\": the answer came when the lease was already over",
                                           candidate.name().printable()));
}

}  // namespace tranca::detail
