// What a chooser may do to clients, to their connections and to time.
#include <sys/socket.h>

#include <thread>

#include "interleave/schedule.hpp"

namespace tranca::interleave {

// Of one that crashed, the sockets are closed by its system; where it does not wait, the server has nothing to learn from that.
void stage::end(player& who, choice::kind how) {
    if (picture_) picture_->add(who.number(), how == choice::kind::crash ? "CRASHES" : "FREEZES");
    silent_loss_ = silent_loss_ || !beliefs_.holds(who.number());
    if (who.is_waiting() && how == choice::kind::crash) ::shutdown(who.thread.descriptor(), SHUT_RDWR);
    has_begun_to_wait_ = true;  // the end of a connection comes without an answer too
    who.crash();
}

void stage::pass_time(std::chrono::milliseconds span) {
    if (picture_) picture_->add_remark("TIME PASSES: a lease ends");
    now_.is_void = !end_leases(span);
    silent_loss_ = true;
}

bool stage::end_leases(std::chrono::milliseconds span) {
    const auto ended = what_.held.end_first(raw_, span);
    for (const auto& each : players_)
        for (const auto& owner : ended)
            if (!outlasts(*each, span)) each->hear_of_end(owner);
    return !ended.empty();
}

bool stage::outlasts(const player& who, std::chrono::milliseconds span) const {
    return !what_.ttls.empty() && what_.ttls[who.number()] > span;
}

void stage::lose_request(player& who) {
    prepare_step(who, fate::answered);
    draw(who.number(), "(its connection breaks before that)");
    who.lose_a_reply();
    ::shutdown(who.thread.descriptor(), SHUT_RDWR);
    who.thread.go_on(fate::answered);
    has_begun_to_wait_ = true;
}

// Its clock goes on as well as the server's: both know. The server has run it once it has answered what was asked afterwards.
void stage::step_late(player& who) {
    prepare_step(who, fate::answered);
    draw(who.number(), "(the answer takes its time: a lease ends)");
    who.lose_a_reply();
    who.thread.only_send();
    raw_.must({"PING"});
    raw_.must({"PING"});
    constexpr std::chrono::milliseconds past_its_last{2};  // the server counts in whole ones
    std::this_thread::sleep_for(what_.span + past_its_last);
    silent_loss_ = true;
}

}  // namespace tranca::interleave
