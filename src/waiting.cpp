#include <tranca/waiting.hpp>

#include <algorithm>
#include <charconv>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tranca/attempt.hpp>
#include <tranca/backoff.hpp>
#include <tranca/interrupt.hpp>
#include <tranca/script.hpp>

namespace tranca {

namespace {

// The server's own timer is for the case that ours is gone: later than ours, within the mark's life.
constexpr milliseconds server_grace{100};

// Another number for each slice of each waiter, in all processes.
double chance() {
    thread_local std::minstd_rand numbers{std::random_device{}()};
    return std::uniform_real_distribution<>{0, 1}(numbers);
}

std::string seconds_text(clock::duration wait) {
    return fmt::format("{:.3f}",
                       std::chrono::duration<double>{std::max<clock::duration>(wait, milliseconds{1})}.count());
}

// What CLIENT INFO says about a connection: "id=7 addr=10.0.0.1:54321 laddr=...".
std::string_view field_of(std::string_view line, std::string_view name) {
    const auto place = line.find(name);
    if (place == std::string_view::npos) return {};
    const auto value = line.substr(place + name.size());
    return value.substr(0, value.find(' '));
}

class waiter {
public:
    waiter(const std::shared_ptr<contender>& candidate, clock::time_point deadline, const std::stop_token& stop)
        : candidate_(candidate), pool_(candidate->pool()), deadline_(deadline), stop_(stop) {}

    std::optional<guard> run();

private:
    enum class step { granted, again, over };
    struct identity {
        std::int64_t id;
        std::string address;
    };

    void introduce();
    [[nodiscard]] step ask();
    [[nodiscard]] step block_and_ask(clock::duration slice);
    [[nodiscard]] step hear(const reply& answer, clock::time_point sent, bool woken);
    void send_block(clock::duration slice, const script_call& call);
    void end_block(clock::time_point sent, clock::duration slice);
    void unblock();
    void leave_blocked();
    std::optional<guard> withdraw();
    void recover(const error& failure);
    [[nodiscard]] clock::duration next_slice() const;
    [[nodiscard]] bool over() const { return clock::now() >= deadline_ || stopped(); }
    [[nodiscard]] bool stopped() const { return stop_.stop_requested() || pool_.closing().stop_requested(); }

    const std::shared_ptr<contender>& candidate_;
    connection_pool& pool_;
    clock::time_point deadline_;
    const std::stop_token& stop_;

    std::optional<connection_pool::borrowed> line_;
    std::optional<interrupt> cut_;  // made when there is something to wait for
    contender::verdict last_{};
    clock::time_point asked_at_{};      // when what was answered by last_ had been sent
    bool knows_ = false;                // last_ is an answer of this connection
    bool asked_ = false;                // at all
    bool recovered_ = false;            // from a failure, with no answer since
    bool unheard_ = false;              // a request of ours may have been granted, and nobody has read the answer
    std::optional<identity> doubtful_;  // a connection that may still carry a request of ours
};

std::optional<guard> waiter::run() {
    for (;;) {
        try {
            if (knows_) introduce();
            const auto slice = knows_ ? next_slice() : clock::duration::zero();
            switch (slice > clock::duration::zero() ? block_and_ask(slice) : ask()) {
            case step::granted: return guard{candidate_};
            case step::over: return withdraw();
            case step::again: break;
            }
        } catch (const error& failure) {
            recover(failure);
        }
    }
}

clock::duration waiter::next_slice() const {
    const auto now = clock::now();
    // The mark was set when the failed attempt was sent: the block must end before it does.
    return std::min(wait_slice(last_.busy_for, candidate_->usual_ttl(), chance()) - (now - asked_at_), deadline_ - now);
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

waiter::step waiter::ask() {
    if (!line_) line_.emplace(pool_.borrow());
    if (doubtful_) {
        // What the broken connection still carries is dropped by the server with it.
        static_cast<void>(
            (*line_)->exchange(request{"CLIENT", "KILL", "ID", doubtful_->id, "ADDR", doubtful_->address}));
        doubtful_.reset();
    }
    // The first attempt leaves no mark where that saves a script; its answer then does not say for how long it is busy.
    const auto call = candidate_->acquire_call(asked_ || !candidate_->may_ask_plainly());
    asked_ = true;
    const auto sent = clock::now();
    return hear(tranca::run(**line_, call), sent, false);
}

waiter::step waiter::block_and_ask(clock::duration slice) {
    if (!cut_) cut_.emplace(stop_, pool_.closing());
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
    const auto next = hear(answer, sent, !woken.is_nil());
    // Not woken: the block had lasted for its whole slice when the server came to the acquire behind it.
    if (woken.is_nil()) asked_at_ = sent + slice;
    return next;
}

void waiter::send_block(clock::duration slice, const script_call& call) {
    auto& redis = **line_;
    request storage;
    const auto& ask_again = request_of(call, redis, std::nullopt, storage);
    request all{"BLPOP", candidate_->wake_list(), seconds_text(slice + server_grace)};
    all.add_request(ask_again);
    redis.send(all);
}

// Until something is there to be read: by a wake-up, by our own timer, or because we are to stop.
void waiter::end_block(clock::time_point sent, clock::duration slice) {
    auto& redis = **line_;
    auto found = redis.await_reply(sent + slice, *cut_);
    if (found == arrival::ready) return;
    if (redis.id().value_or(0) > 0) return unblock();
    if (found == arrival::timed_out) found = redis.await_reply(sent + slice + pool_.where().command_timeout, *cut_);
    if (found == arrival::interrupted) leave_blocked();
}

void waiter::unblock() {
    const auto id = *(*line_)->id();
    pool_.with_connection(resend::safe, [&](connection& other) {
        const auto answer = other.exchange(request{"CLIENT", "UNBLOCK", id, "TIMEOUT"});
        if (answer.is_error()) (*line_)->remember_id(0);  // then the server's own timer has to do
    });
    if ((*line_)->id() == 0 && stopped()) leave_blocked();
}

// What keeps others out is taken back; a failure is no reason to call it anything but busy: it ends by itself.
std::optional<guard> waiter::withdraw() {
    if (!line_ || !asked_ || !candidate_->leaves_a_claim()) return std::nullopt;
    try {
        static_cast<void>(tranca::run(**line_, candidate_->release_call()));
    } catch (const error&) {
        line_.reset();
    }
    return std::nullopt;
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

waiter::step waiter::hear(const reply& answer, clock::time_point sent, bool woken) {
    recovered_ = false;
    knows_ = true;
    asked_at_ = sent;
    last_ = candidate_->hear(answer);
    unheard_ = false;
    if (last_.granted) {
        candidate_->begin(sent);
        if (candidate_->held()) return step::granted;
        // Too late to be of use: given back, and asked for again.
        tranca::run(pool_, candidate_->release_call());
        throw error(errc::timeout, fmt::format("acquiring \"{}\": the answer came when the lease was already over",
                                               candidate_->name().printable()));
    }
    if (woken) pool_.report(event::kind::spurious_wakeup, candidate_->name());
    return over() ? step::over : step::again;
}

// A connection that broke or fell silent is replaced once: the old one is killed, with what it may still carry, and
// asking again with the same token finds out how it went. Where that cannot be had, what was asked is undone.
void waiter::recover(const error& failure) {
    unheard_ = unheard_ || failure.in_doubt();
    const bool known = line_ && (*line_)->id().value_or(0) > 0;
    const bool again = !recovered_ && !stopped();
    if (failure.in_doubt() && known && again) doubtful_ = identity{*(*line_)->id(), (*line_)->address()};
    line_.reset();
    knows_ = false;
    recovered_ = true;
    if (doubtful_ && again) return pool_.drop_idle();
    // Throws, unless another attempt makes sense.
    detail::settle_failure(*candidate_, failure, unheard_ ? steps::several : steps::one, again);
    unheard_ = false;
}

}  // namespace

std::optional<guard> try_now(const std::shared_ptr<contender>& candidate) {
    return attempt_once(candidate, steps::one, [&](connection& redis, const token&) {
        return candidate->hear(run(redis, candidate->acquire_call(false))).granted;
    });
}

std::optional<guard> wait_for(const std::shared_ptr<contender>& candidate, clock::time_point deadline,
                              const std::stop_token& stop) {
    detail::require_release_rights(*candidate);
    return waiter{candidate, deadline, stop}.run();
}

}  // namespace tranca
