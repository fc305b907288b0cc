// nemesis: faults, one function each. A call injects one, and all is well again when it returns.
//
//     nemeses().at("kill_client")(place);
//
// Each is written down before it begins.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "faults/arena.hpp"

namespace tranca::faults_test {

// Clients.
void kill_client(arena& place);  // -9; another takes its place
void stop_client(arena& place);  // SIGSTOP for up to 1.5 ttl

// Servers: where there are several, one of them.
void freeze_server(arena& place);   // SIGSTOP for up to 250 ms
void restart_server(arena& place);  // -9 and again, with what it had on disk: nothing, or everything
void pause_server(arena& place);    // CLIENT PAUSE, writes or all
void pause_waiter(arena& place);    // CLIENT PAUSE, before a BLPOP, for longer than the wait
void busy_server(arena& place);     // a script that runs for 100 ms
void fill_memory(arena& place);     // -OOM for 100 ms
void demote_server(arena& place);   // -READONLY for 100 ms
void flush_scripts(arena& place);
void close_connections(arena& place);  // CLIENT KILL

// What takes the lock from its holder.
void flush_all(arena& place);
void cut_power(arena& place);     // -9, and the last of what it wrote to disk is lost
void evict_all(arena& place);     // all keys with a ttl, by the memory limit
void delete_locks(arena& place);  // the locks, not their fences
void fail_over(arena& place);     // to a replica that lags; only the first call does something

// Links.
void cut_links(arena& place);
void delay_links(arena& place);    // up to 20 ms each way, for 200 ms
void lose_requests(arena& place);  // one way, for 150 ms; then cut, or delivered late
void lose_replies(arena& place);   // the other way
void swallow_reply(arena& place);  // of one command that was run
void hold_request(arena& place);   // of one command, which arrives late, when its client may be gone

/// By their names.
[[nodiscard]] const std::map<std::string, std::function<void(arena&)>>& nemeses();

}  // namespace tranca::faults_test
