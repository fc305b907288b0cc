// cluster_set: a Redis Cluster of three masters and three replicas on free loopback ports.
//
//     cluster_set set{1'500ms};
//     client redis{set.url()};                         // redis-cluster://127.0.0.1:A,127.0.0.1:B,127.0.0.1:C, the first three
//     set.move_slot(866, 2);                           // to server number 2
//     auto& dead = set.owner_of(866);  dead.kill_hard();  set.wait_for_heir(dead);
//
// A node that is silent for the time given is taken for dead: long where none is to die, so that one that has to wait for its turn
// on a busy machine does not look dead. Everything here asks the servers; nothing is remembered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/redis_server.hpp"

namespace tranca::testing {

class cluster_set {
public:
    static constexpr std::size_t size = 6;
    static constexpr std::size_t masters = 3;  // at the start the first three
    static constexpr unsigned slots = 16'384;

    // With certificates, which must outlive it, the nodes speak TLS with one another, and with clients at a second port.
    explicit cluster_set(std::chrono::milliseconds node_timeout, const tls_certificates* tls = nullptr);

    [[nodiscard]] std::string url(std::string_view account = {}) const;
    [[nodiscard]] std::string tls_url() const;  // rediss-cluster://127.0.0.1:A,127.0.0.1:B,127.0.0.1:C
    [[nodiscard]] redis_server& server(std::size_t index) { return *servers_.at(index); }
    [[nodiscard]] std::size_t index_of(const redis_server& server) const;

    // As a live node of the majority sees it; throws if nobody owns it.
    [[nodiscard]] redis_server& owner_of(unsigned slot);
    [[nodiscard]] std::vector<std::size_t> master_indices();

    // A slot is moved in three steps; in between, some of its keys are here and some there.
    void begin_move(unsigned slot, redis_server& from, redis_server& to);
    // Those keys of the slot that begin with `prefix`.
    void move_keys(unsigned slot, redis_server& from, redis_server& to, std::string_view prefix = {});
    void end_move(unsigned slot, redis_server& from, redis_server& to);
    // All of it, also while it is in use.
    void move_slot(unsigned slot, std::size_t to);

    // Returns when every live node says that the Cluster is whole, with a replica for each master, in sync.
    void wait_until_whole();
    // Returns when each replica has what its master has now.
    void wait_in_sync();
    // Returns when another server owns what `dead` had owned, and all live nodes know.
    redis_server& wait_for_heir(const redis_server& dead, unsigned slot);
    // Whole again, empty, every slot stable, all running.
    void clear();

    // ACL SETUSER at every node, for all keys.
    void set_account(const std::string& user, const std::string& password, const std::string& rights);

    // Since clear(), by all nodes together: error replies with this first word, and calls of a command.
    [[nodiscard]] std::int64_t errors_said(std::string_view word);
    [[nodiscard]] std::int64_t calls(std::string_view command);
    // Connections of this name (client_name in a URL) to all nodes together.
    [[nodiscard]] std::int64_t clients_named(std::string_view name);

private:
    [[nodiscard]] std::string hosts(address (redis_server::*where)() const) const;
    [[nodiscard]] bool is_whole();
    [[nodiscard]] std::string id_of(redis_server& server);
    void join();
    void share_out();
    void close_open_slots(redis_server& server);
    void follow_masters();

    std::array<std::unique_ptr<redis_server>, size> servers_;
};

}  // namespace tranca::testing
