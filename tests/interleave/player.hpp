// player: one client of a schedule: its thread, its connections, and what it believes.
#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "interleave/actor.hpp"
#include "interleave/scenario.hpp"

namespace tranca::interleave {

// What a player needs of its schedule.
class surroundings {
public:
    virtual board& beliefs() = 0;
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_time() = 0;
    virtual void draw(std::size_t client, const std::string& what) = 0;
    virtual void leave_in_doubt() = 0;
    virtual void look_at_refusal(std::size_t client) = 0;

protected:
    ~surroundings() = default;
};

class player final : public part {
public:
    player(surroundings& around, std::size_t number, const std::string& url, const scenario& rules);

    client& redis() override { return redis_; }
    [[nodiscard]] std::stop_token stop() override { return stop_.get_token(); }
    [[nodiscard]] std::chrono::system_clock::time_point wall_time() override { return around_.wall_time(); }
    void keeps(const claim& what) override;
    void enters(const claim& what) override {
        keeps(what);
        leaves_with_next_step_ = true;
    }
    void holds(guard& held, claim what) override;
    void is_refused() override;
    void notes(const std::string& what) override;

    void take_connection();

    // Runs its body until the first exchange.
    void begin(const body& what);

    // What it stands before is about to be done.
    void learn_of_step(exchange_hook::fate decided);

    // A lease in whose owner's words one of its tokens may stand has ended on the server.
    void hear_of_end(const std::string& owner);

    void tell_to_stop() { stop_.request_stop(); }
    void lose_a_reply() { lost_a_reply_ = true; }
    void crash();

    [[nodiscard]] std::size_t number() const { return number_; }
    [[nodiscard]] char letter() const { return static_cast<char>('A' + number_); }
    [[nodiscard]] bool is_over() const { return thread.where() == actor::place::over; }
    [[nodiscard]] bool has_crashed() const { return crashed_; }
    [[nodiscard]] bool lives() const { return !crashed_ && !is_over(); }
    [[nodiscard]] bool is_sending() const { return lives() && thread.where() == actor::place::sending; }
    [[nodiscard]] bool is_waiting() const { return lives() && thread.where() == actor::place::waiting; }
    [[nodiscard]] bool has_sent() const { return lives() && thread.where() == actor::place::sent; }
    [[nodiscard]] bool can_go_on() const { return is_sending() || has_sent() || (is_waiting() && answered); }
    [[nodiscard]] bool naps() const { return is_waiting() && !answered && naps_; }
    [[nodiscard]] bool sleeps() const { return is_waiting() && !answered && !naps_; }
    [[nodiscard]] int steps() const { return steps_; }

    actor thread;
    bool answered{false};  // while it waits: something is there

private:
    void play(const body& what);

    surroundings& around_;
    std::size_t number_;
    const scenario& rules_;
    client redis_;

    std::stop_source stop_;
    std::set<std::string> tokens_;  // that it has sent
    std::set<std::string> ended_;   // of these, those whose lease has ended since
    bool leaves_with_next_step_{false};
    bool lost_a_reply_{false};
    bool lost_a_lease_{false};
    bool crashed_{false};
    bool naps_{false};  // its last block, if it still lasts, ends by itself before anybody would call it sleep
    int steps_{0};
};

}  // namespace tranca::interleave
