// scenario: who does what, which faults there may be, and what must hold.
//
//     scenario two{.name = "mutex: try", .clients = {try_once, try_once}, .alike = true};
//     const auto verdict = explore(two);
//
// A client's body is ordinary code on the library: a `part` lends it a client, and hears of what it believes to hold.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <tranca/client.hpp>
#include <tranca/guard.hpp>

#include "interleave/board.hpp"
#include "interleave/leases.hpp"

namespace tranca::interleave {

// What the body of a client sees of its schedule.
class part {
public:
    virtual client& redis() = 0;
    [[nodiscard]] virtual std::stop_token stop() = 0;

    // A clock that all clients share, and that goes on with every look at it.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_time() = 0;

    // Believes to hold it, which is looked at.
    virtual void keeps(const claim& what) = 0;

    // The same, until its next exchange begins.
    virtual void enters(const claim& what) = 0;

    // The same, and that exchange is its release.
    virtual void holds(guard& held, claim what) = 0;

    // It was told that all is held.
    virtual void is_refused() = 0;

    // For the diagram.
    virtual void notes(const std::string& what) = 0;

protected:
    ~part() = default;
};

using body = std::function<void(part&)>;

// How many of each kind there may be in one schedule, and of all kinds together.
struct fault_budget {
    int crashes{0};
    int lost_replies{0};
    int expiries{0};
    int script_flushes{0};
    int timers{0};
    int stops{0};
    int freezes{0};
    int lost_requests{0};
    int late_answers{0};  // each takes the span; only to those whose lease ends within it
    int pairs{0};         // no fault, but of the server's doing: two requests at once
    int together{1};
};

struct scenario {
    std::string name;
    std::vector<body> clients;
    bool alike{false};  // the clients do the same: one order of their first steps stands for all
    fault_budget faults{};
    std::int64_t limit{1};
    leases held{};
    std::chrono::milliseconds span{std::chrono::hours{1}};  // how much time an expiry lets pass, or a late answer takes
    std::vector<std::chrono::milliseconds> ttls{};          // of each client; empty: all within the span
    bool believes_after_its_end{false};                     // holders do not ask their guards
    bool only_exclusion{false};                             // what a release says is not looked at
    bool new_connections{false};                            // clients that have never waited before
    bool may_not_ask_numbers{false};                        // nobody can cut short how he sleeps
    bool stops_when_woken{false};                           // a stop request may come together with what ends the wait
    std::vector<std::string> may_stay{};                    // keys that have no ttl by design
    std::function<bool(testing::raw_client&)> is_free{};    // could a waiter have it?
    std::vector<std::function<bool(testing::raw_client&)>> is_free_for{};  // the same by client, where they differ
    bool refuses_only_if_held{false};                                // who is told "busy" while it is free is wronged
    std::function<bool(testing::raw_client&)> is_free_to_upgrade{};  // could a holder that waits?
    std::function<void(testing::raw_client&)> prepare{};             // before the first step
    std::function<std::string(testing::raw_client&)> flaw_at_end{};  // after the last one; empty: none
};

}  // namespace tranca::interleave
