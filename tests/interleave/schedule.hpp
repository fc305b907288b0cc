// stage: runs the clients of a scenario in one order of their steps after another, against a real server.
//
//     stage all{shared_server(), two};
//     auto one = all.run([](const choices& possible) { return 0; });   // always the first choice
//     one.flaw, one.made, one.picture
//
// A step is one exchange: a request, its answer, and what the client does until its next request. Redis runs one command at a
// time, so these orders are all there are. A wait for a wake-up is ended by an answer, or by what the chooser decides; no time
// passes but what it decides: leases last for a minute and end on the server alone (leases.hpp). Whose lease was ended while
// it held, or while it was being granted, is no longer counted as a holder: its own clock would have told it, unless the
// scenario says that it does not look.
//
// One thing happens within a step of the server: while somebody sleeps, two requests may lie there when it comes to look. It
// wakes the sleeper with the first, and runs what that one has sent after the second. Such pairs are choices of their own.
//
// An answer may be late: then time passes indeed, as much as the scenario says, and a lease that lasts for less ends by itself.
//
// A wait of less than 0.2 seconds is no sleep: that its timer fires is a step like others.
//
// With nobody left but those who wait, and holders who may take their time, asleep while the lock is free is a flaw - unless a
// lease has ended, or somebody has crashed who did not hold it and may have been woken, or keep a place: that is silent. After
// the last step:
// - nobody may sleep, unless somebody has crashed or is in doubt;
// - time passes - every lease and every claim ends, and the waiters' timers fire - and all of them must get through;
// - nothing may be left without a ttl, and nothing held, unless somebody crashed or is in doubt.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exchange_hook.hpp"
#include "interleave/choice.hpp"
#include "interleave/diagram.hpp"
#include "interleave/player.hpp"
#include "interleave/scenario.hpp"
#include "interleave/wording.hpp"
#include "support/redis_server.hpp"

namespace tranca::interleave {

// Which of the possible choices is made.
using chooser = std::function<std::size_t(const choices& possible)>;

struct outcome {
    std::optional<std::string> flaw;
    bool is_void{false};  // a choice had no effect: another schedule is the same
    choices made;
    std::string picture;  // if it was asked for
};

class stage final : private exchange_hook, private surroundings {
public:
    stage(testing::redis_server& server, const scenario& what);
    ~stage();
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

    [[nodiscard]] outcome run(const chooser& choose, bool draws = false);

private:
    fate before_send(const connection& redis, const request& commands) override;
    void after_send(const connection& redis) override;
    wait before_wait(const connection& redis) noexcept override;

    board& beliefs() override { return beliefs_; }
    std::chrono::system_clock::time_point wall_time() override;
    void draw(std::size_t client, const std::string& what) override;
    void leave_in_doubt() override { in_doubt_ = true; }
    void look_at_refusal(std::size_t client) override;

    void begin();
    void settle();
    [[nodiscard]] choices possible() const;
    void add_faults(std::size_t client, choices& found) const;
    [[nodiscard]] bool may(choice::kind what) const;
    [[nodiscard]] int used(choice::kind what) const;
    [[nodiscard]] bool all_lived() const;
    void make(const choice& next);
    void step(player& who, fate decided);
    void step_together(player& first, player& second);
    void prepare_step(player& who, fate decided);
    void add_pairs(choices& found) const;
    void lose_request(player& who);
    void step_late(player& who);
    [[nodiscard]] bool outlasts(const player& who, std::chrono::milliseconds span) const;
    void end(player& who, choice::kind how);
    void end_wait(player& who, wait decided);
    void pass_time(std::chrono::milliseconds span);
    bool end_leases(std::chrono::milliseconds span);
    void finish();
    [[nodiscard]] bool others_may_hold_on() const;
    void look_at_sleepers();
    void let_time_pass_until_all_are_through();
    bool step_all_who_can();
    void look_at_what_is_left();
    void dismiss_all() noexcept;

    static constexpr std::size_t longest = 200;  // in steps; more is a client that never comes to an end

    testing::redis_server& server_;
    const scenario& what_;
    testing::raw_client raw_;
    board beliefs_;
    std::vector<std::unique_ptr<player>> players_;

    // Of the schedule that runs.
    outcome now_;
    std::vector<int> used_;          // by choice::kind
    bool has_begun_to_wait_{false};  // the last step, without an answer
    bool silent_loss_{false};
    bool in_doubt_{false};
    long looks_at_clock_{0};
    std::optional<diagram> picture_;
    wording words_;
};

}  // namespace tranca::interleave
