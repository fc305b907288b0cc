#include <tranca/attempt.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <tranca/script.hpp>

namespace tranca::detail {

namespace {

// Enough for a healthy server far away, little enough for a caller whose server is frozen.
constexpr milliseconds undo_budget{250};

bool broke(const error& failure) noexcept { return failure.reason() == errc::connection_lost; }

// True if the server answered that it removed the token: what had been done is undone.
bool removed(const std::optional<reply>& answer) {
    return answer && answer->what() == reply_view::kind::integer && answer->integer() == 1;
}

bool answered(const std::optional<reply>& answer) { return answer && answer->what() == reply_view::kind::integer; }

}  // namespace

void require_release_rights(const lease& candidate) {
    auto& pool = candidate.pool();
    const auto number = candidate.release_script().number();
    if (pool.checked(number)) return;
    try {
        run(pool, candidate.release_call());  // nobody holds this token, so it changes nothing and is never in doubt
    } catch (const error& failure) {
        if (failure.reason() != errc::wrong_type) throw error(failure.reason(), failure.text());
    }
    pool.set_checked(number);
}

void settle_failure(const lease& candidate, const error& failure, steps count, bool first) {
    auto& pool = candidate.pool();
    const bool nothing_was_done = !failure.in_doubt() && count == steps::one;
    if (nothing_was_done) {
        if (!broke(failure) || !first) throw failure;
        pool.drop_idle();
        return;
    }
    const auto call = candidate.release_call();
    const auto by_text = call.command.with_first_two("EVAL", call.what->text());
    const auto answer =
        connection::send_last_word(pool.where(), by_text, std::min(undo_budget, pool.where().command_timeout));
    if (!answered(answer)) pool.report(event::kind::undo_failed, candidate.name(), failure.what());
    // A server that hung up reads no more of what was sent to it; one that is merely slow may.
    const bool settled = removed(answer) || (answered(answer) && (broke(failure) || !failure.in_doubt()));
    if (settled && broke(failure) && first) {
        pool.drop_idle();
        return;
    }
    throw error(failure.reason(), failure.text(), settled ? effect::none : effect::in_doubt);
}

void give_back_late_grant(const lease& candidate) {
    run(candidate.pool(), candidate.release_call());
    throw error(errc::timeout, fmt::format("acquiring \"{}\": the answer came when the lease was already over",
                                           candidate.name().printable()));
}

}  // namespace tranca::detail
