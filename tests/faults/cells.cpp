// The table of the programme: which workload meets which faults, and what must come of it.
#include <utility>

#include "faults/cell.hpp"

namespace tranca::faults_test {

namespace {

using namespace std::chrono_literals;
using names = std::vector<std::string>;

// One that stands still may be given what is free, and keep it for its lease; where links or servers fail, a command's time limit
// or two come on top.
const rules with_clients{.lateness = 1'000ms, .idle = 1'000ms};
const rules with_servers{.lateness = 2'000ms, .idle = 2'500ms};

cell of(const std::string& kind, const std::string& what, names faults, rules by) {
    cell made;
    made.name = kind + "_" + what;
    made.arena.load.kind = kind;
    made.faults = std::move(faults);
    made.by = by;
    if (kind == "semaphore" || kind == "clock_semaphore") made.arena.load.limit = made.by.limit = 3;
    if (kind.starts_with("quorum")) {
        made.arena.servers = 3;
        made.arena.clients = 4;
    }
    return made;
}

// All come at once, wait, are handed the lock one after another, and then nobody comes: a lost wake-up costs a slice.
cell sparse(const std::string& kind, names faults = {}, rules by = {.idle = 400ms}) {
    auto made = of(kind, "sparse", std::move(faults), by);
    made.arena.clients = 4;
    made.arena.load.pace = pace::sparse;
    made.arena.load.ttl = 16s;
    made.arena.load.wait = 3s;
    made.arena.load.hold = 30ms;
    made.time = 1'800ms;
    return made;
}

// No lease ends; names change all the time, so that each history is short enough for the search.
cell brief(const std::string& kind, const std::string& what, names faults) {
    auto made = of(kind, what, std::move(faults), {.lateness = 2'000ms, .idle = 60s, .search = true});
    if (kind == "semaphore") made.arena.load.limit = made.by.limit = 2;
    made.arena.clients = 4;
    made.arena.load.pace = pace::brief;
    made.arena.load.ttl = 2s;
    return made;
}

// The fault takes the lock from its holder, who is inside for long enough to meet the next one.
cell taken(const std::string& kind, const std::string& what, names faults, names breaks) {
    auto made = of(kind, what, std::move(faults), with_servers);
    made.breaks = std::move(breaks);
    made.by.exclusion_may_break = true;
    made.arena.load.hold = 100ms;
    made.pause = 250ms;
    return made;
}

// A client that is wrong on purpose.
cell wrong(const std::string& fault, names faults, names breaks, const std::string& kind = "mutex") {
    auto made = of(kind, fault, std::move(faults), {});
    made.arena.load.broken = fault;
    made.arena.load.ttl = 150ms;
    made.breaks = std::move(breaks);
    return made;
}

void add_faults_of_all_kinds(std::vector<cell>& all) {
    const names clients{"kill_client", "stop_client"};
    const names links{"cut_links", "delay_links", "lose_requests", "lose_replies", "swallow_reply", "hold_request"};
    const names states{"flush_scripts", "fill_memory",       "pause_server", "demote_server",
                       "busy_server",   "close_connections", "freeze_server"};
    for (const auto* kind : {"mutex", "fair", "semaphore", "shared", "multi", "quorum"}) {
        all.push_back(of(kind, "clients", clients, with_clients));
        all.back().time = 1'800ms;  // a lease, and the bound
        all.push_back(of(kind, "links", links, with_servers));
    }
    for (const auto* kind : {"mutex", "semaphore", "shared", "multi"})
        all.push_back(of(kind, "states", states, with_servers));
    // A wait that ends while its BLPOP is paused must not be cut short: redis#14164.
    all.push_back(of("mutex", "paused", {"pause_waiter"}, with_servers));
    // Threads of one process queue inside it and hand the lock on without asking the server.
    all.push_back(of("mutex", "threads", clients, with_clients));
    all.back().arena.load.threads = 3;
    all.back().time = 1'800ms;
}

void add_quiet_ones(std::vector<cell>& all) {
    for (const auto* kind : {"mutex", "fair", "semaphore", "shared", "multi"})
        all.push_back(sparse(kind));
    for (const auto* kind : {"mutex", "semaphore", "shared"}) {
        all.push_back(brief(kind, "brief", {"kill_client", "flush_scripts"}));
        all.push_back(brief(kind, "brief_links", {"swallow_reply", "cut_links"}));
        all.back().by.resends = true;
    }
}

void add_restarts(std::vector<cell>& all) {
    for (const auto* kind : {"mutex", "semaphore"}) {
        all.push_back(of(kind, "restart_on_disk", {"restart_server"}, with_servers));
        all.back().arena.on_disk = true;
        all.back().pause = 300ms;
    }
    all.push_back(of("quorum", "restart_on_disk", {"restart_server", "freeze_server"}, with_servers));
    all.back().arena.on_disk = true;
    all.back().pause = 300ms;
}

void add_locks_taken_away(std::vector<cell>& all) {
    const names alone{"C1", "C7"};
    const names permits{"C2", "C7"};
    all.push_back(taken("mutex", "flush", {"flush_all"}, alone));
    all.push_back(taken("mutex", "restart_empty", {"restart_server"}, alone));
    all.push_back(taken("mutex", "evict", {"evict_all"}, alone));
    all.push_back(taken("mutex", "delete", {"delete_locks"}, alone));
    all.push_back(taken("mutex", "fail_over", {"fail_over"}, alone));
    all.back().arena.has_replica = true;
    all.back().arena.load.hold = 300ms;
    all.back().time = 1'500ms;
    all.push_back(taken("semaphore", "flush", {"flush_all"}, permits));
    all.push_back(taken("shared", "flush", {"flush_all"}, alone));
    all.push_back(taken("multi", "flush", {"flush_all"}, alone));
    all.push_back(taken("mutex", "power_cut", {"cut_power"}, alone));
    all.back().arena.on_disk = true;
    all.back().arena.load.hold = 700ms;
    all.back().arena.load.ttl = 800ms;
    all.back().time = 2'000ms;
    all.push_back(taken("mutex", "flush_writes_fenced", {"flush_all"}, {"C1", "C5", "C7"}));
    all.back().arena.checks = fencing_checks::writes;
    // One of three votes twice; the numbers are for that.
    all.push_back(taken("quorum_firm", "forgets", {"restart_server"}, {}));
    all.back().may_break = alone;
    all.push_back(taken("mutex", "flush_unfenced", {"flush_all"}, {"C1", "C5", "C7"}));
    all.back().arena.checks = fencing_checks::off;
}

// The ladder, as its headers say, and clients that are wrong on purpose.
void add_flaws(std::vector<cell>& all) {
    all.push_back(of("naive", "clients", {"kill_client"}, {}));
    all.back().breaks = {"C6", "C8"};
    all.push_back(of("clock_semaphore", "skew", {}, {}));
    all.back().breaks = {"C2", "C5", "C8"};
    all.back().arena.checks = fencing_checks::off;
    all.push_back(wrong("believes", {}, {"C1", "C5", "C7"}));
    all.push_back(wrong("deletes", {}, {"C1", "C5", "C7"}));
    all.push_back(wrong("forgets_order", {}, {"C3", "C5", "C7"}));
    all.push_back(wrong("oversleeps", {}, {"C1", "C5", "C6", "C7"}));
    all.push_back(wrong("forgets", {}, {"C6", "C8"}));
    all.push_back(wrong("lies", {"stop_client"}, {"C7"}));
    all.back().arena.load.hold = 60ms;
    all.back().arena.clients = 3;
    all.back().pause = 20ms;
    all.back().time = 2'500ms;
}

}  // namespace

const std::vector<cell>& cells() {
    static const std::vector<cell> all = [] {
        std::vector<cell> made;
        add_faults_of_all_kinds(made);
        add_quiet_ones(made);
        add_restarts(made);
        add_locks_taken_away(made);
        add_flaws(made);
        return made;
    }();
    return all;
}

}  // namespace tranca::faults_test
