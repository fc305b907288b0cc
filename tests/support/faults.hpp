// faults: every state that turns a Redis server into a problem, each by one call.
//
//     const fault busy = busy_script(server);        // in force when the call returns, over when `busy` goes
//     flush_scripts(server);                         // done and over
//
// For one server; accounts that lack a right are in account.hpp, the network's faults are in tcp_gate.hpp, a wholly
// invented server is fake_server.hpp, a dying client is child_process.hpp. Two faults on one server at a time are fine
// unless both set the same thing (memory and eviction).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/account.hpp"
#include "support/fault.hpp"
#include "support/redis_server.hpp"

namespace tranca::testing {

// The process.
fault frozen(redis_server& server);                      // SIGSTOP: accepts connections, answers nothing
fault unreachable(redis_server& server);                 // SIGKILL: refuses connections; undo starts it again, empty
void restart_without_persistence(redis_server& server);  // SIGKILL and start: every key is gone
fault loading(redis_server& server);                     // restarts with its keys, answers -LOADING to everything
fault busy_script(redis_server& server);                 // -BUSY to everything; undo is SCRIPT KILL

// The role.
fault demoted(redis_server& server);      // a replica of nobody: writes get -READONLY
fault no_replicas(redis_server& server);  // writes get -NOREPLICAS

// Memory and disk.
fault out_of_memory(redis_server& server);               // writes that need memory get -OOM
fault disk_error(redis_server& server);                  // writes get -MISCONF, DEL too
std::int64_t evict_keys_with_ttl(redis_server& server);  // by volatile-ttl; returns how many went

// Scripts.
void flush_scripts(redis_server& server);  // the next EVALSHA gets -NOSCRIPT

// Connections.
enum class paused_commands { writes, all };
fault too_many_clients(redis_server& server, std::size_t more = 0);  // `more` beyond those that are open are let in
fault paused(redis_server& server, std::chrono::milliseconds span, paused_commands which = paused_commands::writes);
void close_idle_connections(redis_server& server);    // by `timeout 1`, takes up to 3 s; blocked ones stay
std::int64_t kill_connections(redis_server& server);  // CLIENT KILL of all that are not the kit's; returns how many
std::int64_t kill_connections(redis_server& server, std::string_view name);  // those of that client name

// Keys.
void make_wrong_type(redis_server& server, const std::string& key);  // a list stands where the lock was
void make_without_ttl(redis_server& server, const std::string& key, const std::string& value = "foreign");
void make_expired(redis_server& server, const std::string& key);  // as if the server's clock had jumped ahead

// Rights.
fault password_required(redis_server& server,
                        const std::string& password);  // of new connections; server.url() tells it
// Cluster mode: a server of its own that owns all slots; takes some 2.5 s.
std::unique_ptr<redis_server> single_node_cluster();

}  // namespace tranca::testing
