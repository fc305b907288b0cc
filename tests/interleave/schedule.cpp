#include "interleave/schedule.hpp"

#include <poll.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include <tranca/connection.hpp>
#include <tranca/request.hpp>

#include "interleave/known_scripts.hpp"

namespace tranca::interleave {

namespace {

constexpr std::size_t kinds = 11;

int budget_of(const fault_budget& all, choice::kind what) {
    switch (what) {
    case choice::kind::lost_reply: return all.lost_replies;
    case choice::kind::crash: return all.crashes;
    case choice::kind::timer: return all.timers;
    case choice::kind::stop: return all.stops;
    case choice::kind::freeze: return all.freezes;
    case choice::kind::together: return all.pairs;
    case choice::kind::lost_request: return all.lost_requests;
    case choice::kind::late: return all.late_answers;
    case choice::kind::expiry: return all.expiries;
    case choice::kind::script_flush: return all.script_flushes;
    default: return 0;
    }
}

bool is_readable(int descriptor) {
    pollfd one{descriptor, POLLIN, 0};
    return ::poll(&one, 1, 0) > 0;
}

}  // namespace

stage::stage(testing::redis_server& server, const scenario& what)
    : server_(server),
      what_(what),
      raw_(server.unix_socket()),
      beliefs_(what.clients.size(), what.limit),
      used_(kinds, 0) {
    surroundings& around = *this;
    for (std::size_t i = 0; i < what.clients.size(); ++i)
        players_.push_back(std::make_unique<player>(around, i, server.unix_url(), what));
    load_all(raw_);
    install(this);
}

stage::~stage() {
    dismiss_all();
    install(nullptr);
}

exchange_hook::fate stage::before_send(const connection& redis, const request& commands) {
    auto* const here = actor::current();
    if (here == nullptr || (is_private(commands.bytes()) && !here->is_dismissed())) return fate::answered;
    return here->stop_before_send(commands.bytes(), redis.descriptor());
}

void stage::after_send(const connection&) {
    if (auto* const here = actor::current()) here->stop_after_send();
}

exchange_hook::wait stage::before_wait(const connection& redis) noexcept {
    auto* const here = actor::current();
    return here == nullptr ? wait::by_itself : here->stop_before_wait(redis.descriptor());
}

std::chrono::system_clock::time_point stage::wall_time() {
    return std::chrono::system_clock::time_point{std::chrono::seconds{100'000 + ++looks_at_clock_}};
}

// The server has done nothing since it refused.
void stage::look_at_refusal(std::size_t client) {
    if (what_.refuses_only_if_held && what_.is_free(raw_))
        beliefs_.blame(std::string{players_[client]->letter()} + " is refused while it is free");
}

void stage::draw(std::size_t client, const std::string& what) {
    if (picture_) picture_->add(client, "  " + what);
}

outcome stage::run(const chooser& choose, bool draws) {
    now_ = {};
    picture_.reset();
    if (draws) picture_.emplace(players_.size());
    begin();
    while (!beliefs_.flaw() && !now_.is_void) {
        settle();
        if (others_may_hold_on()) look_at_sleepers();
        const auto all = possible();
        if (all.empty() || beliefs_.flaw()) break;
        const auto& next = all.at(choose(all));
        now_.made.push_back(next);
        make(next);
        if (now_.made.size() > longest) beliefs_.blame("it never ends");
    }
    if (!beliefs_.flaw() && !now_.is_void) finish();
    now_.flaw = beliefs_.flaw();
    dismiss_all();
    if (picture_) now_.picture = picture_->text();
    return now_;
}

void stage::begin() {
    // Half as dear as FLUSHALL, which gives memory back to the system.
    static const std::string delete_all =
        "local all = redis.call('KEYS', '*') if #all > 0 then redis.call('DEL', unpack(all)) end";
    raw_.must({"EVAL", delete_all, "0"});
    if (used(choice::kind::script_flush) > 0) load_all(raw_);
    if (what_.prepare) what_.prepare(raw_);
    beliefs_.clear();
    std::fill(used_.begin(), used_.end(), 0);
    silent_loss_ = in_doubt_ = has_begun_to_wait_ = false;
    looks_at_clock_ = 0;
    words_ = {};
    for (const auto& each : players_)
        each->take_connection();
    for (std::size_t i = 0; i < players_.size(); ++i)
        players_[i]->begin(what_.clients[i]);
}

// What was done before a question that is answered now has been told to everybody - but for what was sent at the same time as
// the question, without waiting for an answer: for that, a second one.
void stage::settle() {
    const auto waits = [](const auto& each) { return each->is_waiting(); };
    if (std::none_of(players_.begin(), players_.end(), waits)) return;
    raw_.must({"PING"});
    if (std::exchange(has_begun_to_wait_, false)) raw_.must({"PING"});
    for (const auto& each : players_)
        each->answered = each->is_waiting() && is_readable(each->thread.descriptor());
}

bool stage::may(choice::kind what) const {
    const int together = std::accumulate(used_.begin(), used_.end(), 0);
    return together < what_.faults.together && used_[static_cast<std::size_t>(what)] < budget_of(what_.faults, what);
}

int stage::used(choice::kind what) const { return used_[static_cast<std::size_t>(what)]; }

bool stage::all_lived() const { return used(choice::kind::crash) + used(choice::kind::freeze) == 0; }

// First that the same client goes on: the first schedules are the plain ones.
choices stage::possible() const {
    choices found;
    const auto last = now_.made.empty() ? 0 : now_.made.back().client;
    const auto add = [&](std::size_t i) {
        const bool waits_for_its_like =
            what_.alike && i > 0 && players_[i]->steps() == 0 && players_[i - 1]->steps() == 0;
        if (players_[i]->can_go_on() && !waits_for_its_like) found.push_back({choice::kind::step, i});
    };
    add(last);
    for (std::size_t i = 0; i < players_.size(); ++i)
        if (i != last) add(i);
    for (std::size_t i = 0; i < players_.size(); ++i)
        if (players_[i]->naps()) found.push_back({choice::kind::timer, i});
    if (found.empty()) return {};
    const auto steps = found;
    for (const auto& each : steps)
        if (each.what == choice::kind::step && may(choice::kind::lost_reply))
            found.push_back({choice::kind::lost_reply, each.client});
    for (std::size_t i = 0; i < players_.size(); ++i)
        add_faults(i, found);
    if (may(choice::kind::together)) add_pairs(found);
    const bool has_begun = !now_.made.empty();
    if (has_begun && may(choice::kind::expiry)) found.push_back({choice::kind::expiry});
    if (has_begun && may(choice::kind::script_flush)) found.push_back({choice::kind::script_flush});
    return found;
}

void stage::add_pairs(choices& found) const {
    const auto sleeps = [](const auto& each) { return each->sleeps(); };
    if (std::none_of(players_.begin(), players_.end(), sleeps)) return;
    for (const auto& first : players_)
        for (const auto& second : players_)
            if (first != second && first->is_sending() && second->is_sending())
                found.push_back({choice::kind::together, first->number(), second->number()});
}

void stage::add_faults(std::size_t client, choices& found) const {
    const auto& who = *players_[client];
    if (!who.lives()) return;
    // Who stands before a request and crashes has crashed after its last step: when in between makes no difference.
    const bool just_stepped =
        !now_.made.empty() && !now_.made.back().is_of_server() && now_.made.back().client == client;
    if (may(choice::kind::lost_request) && who.is_sending()) found.push_back({choice::kind::lost_request, client});
    if (may(choice::kind::late) && who.is_sending() && !outlasts(who, what_.span))
        found.push_back({choice::kind::late, client});
    if (may(choice::kind::crash) && (just_stepped || who.is_waiting())) found.push_back({choice::kind::crash, client});
    if (!who.is_waiting()) return;
    if (may(choice::kind::stop) && (!who.answered || what_.stops_when_woken))
        found.push_back({choice::kind::stop, client});
    if (who.answered) return;
    if (may(choice::kind::lost_reply)) found.push_back({choice::kind::lost_reply, client});
    if (may(choice::kind::timer) && !who.naps()) found.push_back({choice::kind::timer, client});
    if (may(choice::kind::freeze)) found.push_back({choice::kind::freeze, client});
}

void stage::make(const choice& next) {
    const bool is_nap = next.what == choice::kind::timer && players_[next.client]->naps();
    if (next.what != choice::kind::step && !is_nap) ++used_[static_cast<std::size_t>(next.what)];
    if (next.what == choice::kind::expiry) return pass_time(what_.span);
    if (next.what == choice::kind::script_flush) {
        if (picture_) picture_->add_remark("SCRIPT FLUSH");
        raw_.must({"SCRIPT", "FLUSH"});
        return;
    }
    auto& who = *players_[next.client];
    const bool waits = who.is_waiting();
    if (who.has_sent()) return who.thread.hear();
    switch (next.what) {
    case choice::kind::together: return step_together(who, *players_[next.other]);
    case choice::kind::lost_request: return lose_request(who);
    case choice::kind::late: return step_late(who);
    case choice::kind::crash:
    case choice::kind::freeze: return end(who, next.what);
    case choice::kind::timer: return end_wait(who, wait::timed_out);
    case choice::kind::stop: return end_wait(who, wait::interrupted);
    case choice::kind::lost_reply: return waits ? end_wait(who, wait::broken) : step(who, fate::unanswered);
    default: return waits ? end_wait(who, wait::ready) : step(who, fate::answered);
    }
}

void stage::prepare_step(player& who, fate decided) {
    if (picture_) {
        words_.learn_tokens(who.thread.bytes(), who.letter());
        picture_->add(who.number(),
                      words_.say(who.thread.bytes()) + (decided == fate::unanswered ? " ~ no answer" : ""));
    }
    who.learn_of_step(decided);
}

void stage::step(player& who, fate decided) {
    prepare_step(who, decided);
    who.thread.go_on(decided);
    has_begun_to_wait_ = who.is_waiting();
}

void stage::step_together(player& first, player& second) {
    if (picture_) picture_->add_remark("both at once:");
    server_.freeze();
    for (auto* const each : {&first, &second}) {
        prepare_step(*each, fate::answered);
        each->thread.only_send();
    }
    server_.resume();
    for (auto* const each : {&first, &second})
        each->thread.hear();
    has_begun_to_wait_ = true;
}

void stage::end_wait(player& who, wait decided) {
    const char* const how[] = {"", "(is woken)", "(its timer fires)", "(is told to stop)", "(loses its connection)"};
    draw(who.number(), how[static_cast<std::size_t>(decided)]);
    who.learn_of_step(fate::answered);
    if (decided == wait::interrupted) who.tell_to_stop();
    if (decided == wait::broken) who.lose_a_reply();
    who.thread.end_wait(decided);
    // Who cannot end it on the server leaves the connection, which nobody answers.
    has_begun_to_wait_ = who.is_waiting() || (decided == wait::interrupted && what_.may_not_ask_numbers);
}

void stage::dismiss_all() noexcept {
    for (const auto& each : players_) {
        each->tell_to_stop();
        if (!each->is_over()) each->thread.dismiss();
    }
}

}  // namespace tranca::interleave
