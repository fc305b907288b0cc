#include "interleave/player.hpp"

#include <exception>
#include <utility>

#include <tranca/error.hpp>

#include "interleave/wording.hpp"

namespace tranca::interleave {

namespace {

constexpr double shortest_sleep = 0.2;  // in seconds

std::string name_of(release_result result) {
    switch (result) {
    case release_result::released: return "released";
    case release_result::expired: return "expired";
    case release_result::taken: return "taken";
    default: return "unknown";
    }
}

// What a client asks once in its life is not part of a schedule.
void skip_checks_of_rights(const client& redis) {
    for (unsigned check = 0; check < 64; ++check)
        redis.pool()->set_checked(check);
}

}  // namespace

player::player(surroundings& around, std::size_t number, const std::string& url, const scenario& rules)
    : around_(around), number_(number), rules_(rules), redis_(url) {
    skip_checks_of_rights(redis_);
}

// A connection that has waited before knows its number, by which its blocks are ended and what it may still carry is undone.
// Each schedule begins the same: with a single one, which knows it, or knows that it may not ask - or with none.
void player::take_connection() {
    auto& pool = *redis_.pool();
    if (rules_.new_connections) return pool.drop_idle();
    auto only = pool.borrow();
    pool.drop_idle();
    if (rules_.may_not_ask_numbers) return only->remember_id(0);
    if (only->id()) return;
    const auto told = only->command(request{"CLIENT", "INFO"});
    const auto after = [&](std::string_view name) {
        const auto rest = told.text().substr(told.text().find(name) + name.size());
        return std::string{rest.substr(0, rest.find(' '))};
    };
    only->remember_id(std::stoll(after("id=")), after(" addr="));
}

void player::is_refused() {
    notes("busy");
    if (!thread.is_dismissed()) around_.look_at_refusal(number_);
}

void player::notes(const std::string& what) {
    if (!thread.is_dismissed()) around_.draw(number_, what);
}

void player::begin(const body& what) {
    stop_ = std::stop_source{};
    tokens_.clear();
    ended_.clear();
    answered = leaves_with_next_step_ = lost_a_reply_ = lost_a_lease_ = crashed_ = naps_ = false;
    steps_ = 0;
    thread.start([this, &what] { play(what); });
}

void player::play(const body& what) {
    try {
        what(*this);
    } catch (const error& failure) {
        notes(std::string{"error: "} + failure.what());
        if (failure.in_doubt()) around_.leave_in_doubt();
        if (!lost_a_reply_ && !thread.is_dismissed())
            around_.beliefs().blame(std::string{"an error without a cause: "} + failure.what());
    } catch (const std::exception& failure) {
        around_.beliefs().blame(std::string{"an exception: "} + failure.what());
    }
    around_.beliefs().leave(number_);
}

void player::keeps(const claim& what) {
    const bool believes = ended_.empty() || rules_.believes_after_its_end;
    notes(believes ? "HOLDS IT" : "got it too late");
    if (believes) around_.beliefs().enter(number_, what);
}

void player::holds(guard& held, claim what) {
    what.fence = held.fence();
    what.slots.assign(held.slots().begin(), held.slots().end());
    if (!held && !thread.is_dismissed()) around_.beliefs().blame("it is handed a guard that holds nothing any more");
    enters(what);
    const auto result = held.release();
    if (thread.is_dismissed()) return;
    notes("release: " + name_of(result));
    if (result == release_result::unknown) around_.leave_in_doubt();
    const bool should_be_there = !lost_a_lease_ && !lost_a_reply_ && !rules_.only_exclusion;
    if (should_be_there && result != release_result::released)
        around_.beliefs().blame("a release says " + name_of(result) + " of a lease that nothing ended");
}

void player::learn_of_step(exchange_hook::fate decided) {
    ++steps_;
    if (std::exchange(leaves_with_next_step_, false)) around_.beliefs().leave(number_);
    if (thread.where() == actor::place::waiting) return;
    naps_ = seconds_of_block(thread.bytes()).value_or(1) < shortest_sleep;
    const auto sent = tokens_in(thread.bytes());
    // Once an answer was lost, what is granted may have been granted long ago.
    if (!sent.empty() && !lost_a_reply_) around_.beliefs().begin(number_);
    lost_a_reply_ = lost_a_reply_ || decided == exchange_hook::fate::unanswered;
    for (const auto& token : sent) {
        tokens_.insert(token);
        ended_.erase(token);  // what is granted from now on is counted from now on
    }
}

void player::hear_of_end(const std::string& owner) {
    for (const auto& token : tokens_) {
        if (owner.find(token) == std::string::npos) continue;
        ended_.insert(token);
        lost_a_lease_ = true;
        if (!rules_.believes_after_its_end) around_.beliefs().leave(number_);
    }
}

void player::crash() {
    crashed_ = true;
    around_.beliefs().leave(number_);
}

}  // namespace tranca::interleave
