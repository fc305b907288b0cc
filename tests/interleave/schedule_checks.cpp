// What must hold when nobody goes on by himself any more.
#include <algorithm>

#include "interleave/schedule.hpp"

namespace tranca::interleave {

void stage::finish() {
    look_at_sleepers();
    const auto sleeps = [](const auto& each) { return each->sleeps(); };
    if (all_lived() && !silent_loss_ && !in_doubt_ && std::any_of(players_.begin(), players_.end(), sleeps))
        beliefs_.blame("who sleeps has nobody left to wait for");
    if (!beliefs_.flaw()) let_time_pass_until_all_are_through();
    if (!beliefs_.flaw()) look_at_what_is_left();
}

// Nobody is there but holders, who may take their time, and those who sleep.
bool stage::others_may_hold_on() const {
    bool somebody_sleeps = false;
    for (const auto& each : players_) {
        somebody_sleeps = somebody_sleeps || each->sleeps();
        const bool holds_on = each->is_sending() && beliefs_.holds(each->number());
        if (each->lives() && !each->sleeps() && !holds_on) return false;
    }
    return somebody_sleeps;
}

void stage::look_at_sleepers() {
    if (silent_loss_) return;
    for (const auto& each : players_) {
        // Who holds and waits, waits to upgrade.
        const auto& of_waiters = what_.is_free_for.empty() ? what_.is_free : what_.is_free_for[each->number()];
        const auto& is_free = beliefs_.holds(each->number()) ? what_.is_free_to_upgrade : of_waiters;
        if (each->sleeps() && is_free && is_free(raw_))
            beliefs_.blame(std::string{each->letter()} + " sleeps while it is free");
    }
}

bool stage::step_all_who_can() {
    for (std::size_t steps = 0; steps < longest; ++steps) {
        settle();
        const auto next =
            std::find_if(players_.begin(), players_.end(), [](const auto& each) { return each->can_go_on(); });
        if (next == players_.end()) return true;
        make({choice::kind::step, (*next)->number()});
    }
    return false;
}

void stage::let_time_pass_until_all_are_through() {
    const auto waits = [](const auto& each) { return each->is_waiting(); };
    for (std::size_t round = 0; std::any_of(players_.begin(), players_.end(), waits); ++round) {
        if (round > 3 * players_.size()) return beliefs_.blame("who waits never gets it, whatever time passes");
        while (end_leases(what_.span)) {
        }
        what_.held.end_claims(raw_);
        if (picture_) picture_->add_remark("TIME PASSES: all leases end");
        const auto next = std::find_if(players_.begin(), players_.end(), waits);
        make({choice::kind::timer, (*next)->number()});
        if (!step_all_who_can()) return beliefs_.blame("it never ends");
    }
}

void stage::look_at_what_is_left() {
    if (what_.flaw_at_end)
        if (const auto flaw = what_.flaw_at_end(raw_); !flaw.empty()) beliefs_.blame(flaw);
    if (all_lived() && !in_doubt_ && what_.is_free && !what_.is_free(raw_))
        beliefs_.blame("it is held, and everybody has gone");
    static const std::string without_ttl =
        "local found = {} for _, key in ipairs(redis.call('KEYS', '*')) do "
        "if redis.call('PTTL', key) == -1 then found[#found + 1] = key end end return found";
    for (const auto& key : raw_.must({"EVAL", without_ttl, "0"}).items)
        if (std::find(what_.may_stay.begin(), what_.may_stay.end(), key.text) == what_.may_stay.end())
            beliefs_.blame(key.text + " has no ttl, and nobody is there who could delete it");
}

}  // namespace tranca::interleave
