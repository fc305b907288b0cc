#include "waiter.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <tranca/backoff.hpp>
#include <tranca/chance.hpp>
#include <tranca/script.hpp>

#include "grant.hpp"

namespace tranca {

namespace {

// What CLIENT INFO says about a connection: "id=7 addr=10.0.0.1:54321 laddr=...".
std::string_view field_of(std::string_view line, std::string_view name) {
    const auto place = line.find(name);
    if (place == std::string_view::npos) return {};
    const auto value = line.substr(place + name.size());
    return value.substr(0, value.find(' '));
}

}  // namespace

std::optional<guard> waiter::run() {
    for (;;) {
        switch (next_step()) {
        case step::granted: return guard{candidate_};
        case step::over: return withdraw();
        case step::again: break;
        // Nothing is asked for by a token that was given back: should that have failed, it may yet arrive.
        case step::late: detail::give_back_late_grant(*candidate_);
        }
    }
}

waiter::step waiter::next_step() {
    try {
        leave_wrong_server();
        if (knows_) introduce();
        const auto slice = knows_ ? next_slice() : clock::duration::zero();
        return slice > clock::duration::zero() ? block(slice) : ask(false);
    } catch (const error& failure) {
        recover(failure);
        return step::again;
    }
}

clock::duration waiter::next_slice() {
    const auto now = clock::now();
    auto slice = wait_slice(last_.busy_for, candidate_->usual_ttl(), chance());
    if (const auto kept_for = candidate_->waiter_lease()) slice = std::min<clock::duration>(slice, *kept_for / 2);
    const bool is_long = slice >= longest_slice / 2 && std::chrono::ceil<milliseconds>(slice) < last_.busy_for;
    // The mark was set when the failed attempt was sent: the block must end before it does.
    slice = slice - (now - asked_at_);
    ends_by_itself_ = is_long && slice < deadline_ - now;
    return std::min(slice, deadline_ - now);
}

// A master that was replaced would go on to grant, and to wake who waits there; a node of a Cluster whose slot went elsewhere
// only says so.
void waiter::leave_wrong_server() {
    if (!line_ || !pool_.fails_over() || pool_.is_good(**line_, about())) return;
    (*line_)->retire();
    line_.reset();
    way_ = {};
    knows_ = false;
}

// Before the connection is blocked: learns its number, by which others can end the block. Once a connection.
void waiter::introduce() {
    auto& redis = **line_;
    if (redis.id()) return;
    std::int64_t id = 0;  // stays: the account may not ask
    std::string address;
    try {
        const auto answer = redis.exchange(request{"CLIENT", "INFO"});
        if (answer.what() == reply_view::kind::text) {
            const auto digits = field_of(answer.text(), "id=");
            std::from_chars(digits.data(), digits.data() + digits.size(), id);
            address = field_of(answer.text(), " addr=");
        }
    } catch (const error& failure) {
        throw error(failure.reason(), failure.text());  // it had nothing to change: there is no doubt
    }
    redis.remember_id(id, std::move(address));
}

// What the broken connection still carries is dropped by the server with it. Where that is refused, nobody knows when it
// will be run, and asking again would leave what it takes to nobody.
void waiter::drop_doubtful() {
    const auto answer = (*line_)->exchange(request{"CLIENT", "KILL", "ID", doubtful_->id, "ADDR", doubtful_->address});
    doubtful_.reset();  // only now: should this connection break too, the next one has it to do
    if (answer.is_error())
        throw error(errc::no_permission,
                    fmt::format("acquiring \"{}\": a connection broke, and what it carries cannot be dropped: {}",
                                candidate_->name().printable(), answer.text()),
                    effect::in_doubt);
}

waiter::step waiter::ask(bool woken) {
    if (!line_) line_.emplace(pool_.borrow(about(), way_));
    if (doubtful_) drop_doubtful();
    detail::require_release_rights(*candidate_, **line_);
    // The first attempt leaves no mark where that saves a script; its answer then does not say for how long it is busy.
    const auto call = candidate_->acquire_call(asked_ || !candidate_->may_ask_plainly());
    asked_ = true;
    const auto sent = clock::now();
    return hear(call, tranca::run(**line_, call), sent, woken);
}

waiter::step waiter::hear(const script_call& call, const reply& answer, clock::time_point sent, bool woken) {
    recovered_ = false;
    way_.redirections = 0;
    knows_ = true;
    asked_at_ = sent;
    last_ = verdict_of(*candidate_, call, answer, **line_);
    unheard_ = false;
    if (last_.granted) {
        unheard_ = true;  // to be undone, should it not stand
        await_replicas(*candidate_, **line_);
        unheard_ = false;
        candidate_->begin(sent);
        return candidate_->held() ? step::granted : step::late;
    }
    if (woken) pool_.report(event::kind::spurious_wakeup, candidate_->name());
    return over() ? step::over : step::again;
}

}  // namespace tranca
