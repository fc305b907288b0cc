// replica_pair: a master and its replica behind one address, for failovers that lose writes.
//
//     replica_pair pair;
//     client redis{pair.url()};                          // leads to whoever is the master
//     pair.stop_replication();                           // from here on writes never reach the replica
//     auto held = lock.acquire();
//     pair.fail_over();                                  // master killed, replica promoted: it knows no such lock
//
// The address is a tcp_gate: fail_over() resets its connections and sends new ones to the promoted server.
#pragma once

#include <string>

#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"

namespace tranca::testing {

class replica_pair {
public:
    replica_pair();

    [[nodiscard]] std::string url() const { return gate_.url(); }
    [[nodiscard]] redis_server& master() { return master_; }
    [[nodiscard]] redis_server& replica() { return replica_; }
    [[nodiscard]] tcp_gate& gate() { return gate_; }

    void wait_in_sync();      // returns when the replica has every write done before the call
    void stop_replication();  // the replica keeps what it has
    void fail_over();         // kills the master, promotes the replica
    void switch_over();       // the old master becomes the replica: -READONLY to connections that stay with it

private:
    void promote();

    redis_server master_;
    redis_server replica_;
    tcp_gate gate_;
};

}  // namespace tranca::testing
