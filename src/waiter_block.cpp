// How a waiter sleeps on the server, and how its sleep ends.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <tranca/backoff.hpp>
#include <tranca/script.hpp>

#include "waiter.hpp"

namespace tranca {

namespace {

// The server's own timer comes up to a tenth of a second late. Where that matters it is for the case that ours is gone: later
// than ours, within the mark's life.
constexpr milliseconds server_grace{100};

// Where it does not matter, ours is for the case that the server's does not come.
constexpr milliseconds own_grace{300};

std::string seconds_text(clock::duration wait) {
    return fmt::format("{:.3f}",
                       std::chrono::duration<double>{std::max<clock::duration>(wait, milliseconds{1})}.count());
}

// Woken or not: what BLPOP says, and nothing else.
void require_answer_of_block(const reply& woken) {
    if (!woken.is_nil() && (woken.what() != reply_view::kind::array || woken.size() != 2))
        throw error(errc::protocol, "waiting: the answer is not that to BLPOP", effect::in_doubt);
}

}  // namespace

waiter::step waiter::block(clock::duration slice) {
    if (!cut_) cut_.emplace(stop_, pool_.closing());
    return candidate_->waiter_lease() ? block_then_ask(slice) : block_and_ask(slice);
}

waiter::step waiter::block_then_ask(clock::duration slice) {
    auto& redis = **line_;
    const auto sent = clock::now();
    const auto blocks = block_request(slice);
    redis.send(blocks);
    end_block(sent, slice);
    if (!line_) return step::over;
    const auto woken = redis.receive();
    throw_if_error(woken, blocks, redis.where());
    require_answer_of_block(woken);
    return ask(!woken.is_nil());
}

waiter::step waiter::block_and_ask(clock::duration slice) {
    const auto call = candidate_->acquire_call(true);
    auto& redis = **line_;
    const auto sent = clock::now();
    unheard_ = true;
    send_block(slice, call);
    end_block(sent, slice);
    if (!line_) return step::over;
    const auto woken = redis.receive();
    auto answer = redis.receive();
    unheard_ = !answer.is_error();
    throw_if_error(woken, request{"BLPOP", candidate_->wake_list()}, redis.where());
    if (is_unknown_script(answer)) answer = redis.exchange(by_text(call));
    throw_if_error(answer, call.command, redis.where());
    require_answer_of_block(woken);
    const auto next = hear(call, answer, sent, !woken.is_nil());
    // Not woken: the block had lasted for its whole slice when the server came to the acquire behind it.
    if (woken.is_nil()) asked_at_ = sent + slice;
    return next;
}

request waiter::block_request(clock::duration slice) const {
    return request{"BLPOP", candidate_->wake_list(), seconds_text(ends_by_itself_ ? slice : slice + server_grace)};
}

void waiter::send_block(clock::duration slice, const script_call& call) {
    auto& redis = **line_;
    request storage;
    const auto& ask_again = request_of(call, redis, std::nullopt, storage);
    auto all = block_request(slice);
    all.add_request(ask_again);
    redis.send(all);
}

// Until something is there to be read: by a wake-up, by our own timer, or because we are to stop.
void waiter::end_block(clock::time_point sent, clock::duration slice) {
    auto& redis = **line_;
    const auto end = sent + slice;
    auto found = redis.await_reply(ends_by_itself_ ? std::min(end + own_grace, deadline_) : end, *cut_);
    if (found == arrival::ready) return;
    if (redis.id().value_or(0) > 0) return unblock();
    if (found == arrival::timed_out) found = redis.await_reply(end + pool_.where().command_timeout, *cut_);
    if (found == arrival::interrupted) leave_blocked();
}

// The write in front changes nothing that matters, but waits while the server pauses writes: a block that is paused itself must
// not be unblocked, since servers without redis#14164 or valkey#2117 end themselves then.
void waiter::unblock() {
    const auto id = *(*line_)->id();
    bool is_elsewhere = false;  // the master was replaced: there the number is another connection's
    request both{"PEXPIRE", candidate_->wake_list(), 2 * longest_slice};
    both.add("CLIENT", "UNBLOCK", id, "TIMEOUT");
    const auto cut_short = [&](connection& other) {
        is_elsewhere = other.where().printable() != (*line_)->where().printable();
        if (is_elsewhere) return;
        other.send(both);
        static_cast<void>(other.receive());
        const auto answer = other.receive();
        if (answer.is_error()) (*line_)->remember_id(0);  // then the server's own timer has to do
    };
    if (pool_.is_cluster()) cut_short(*pool_.borrow_beside(**line_));
    else pool_.with_connection(resend::safe, cut_short);
    if (is_elsewhere || ((*line_)->id() == 0 && stopped())) leave_blocked();
}

// Where nothing can cut the block short: close, and hand on what it may have been given meanwhile.
void waiter::leave_blocked() {
    (*line_)->retire();
    line_.reset();
    try {
        tranca::run(pool_, candidate_->release_call());
    } catch (const error& failure) {
        throw error(failure.reason(), failure.text(), effect::in_doubt);
    }
}

}  // namespace tranca
