#include "support/replica_pair.hpp"

#include <stdexcept>

#include "support/deadline.hpp"

namespace tranca::testing {

using namespace std::chrono_literals;

replica_pair::replica_pair()
    : master_{{.arguments = {"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"}}}, gate_{master_.tcp()} {
    replica_.must({"REPLICAOF", "127.0.0.1", std::to_string(master_.port())});
    wait_in_sync();
}

void replica_pair::wait_in_sync() {
    auto master = master_.raw();
    auto replica = replica_.raw();
    const auto written = std::stoll(master.info("master_repl_offset"));
    const bool reached = eventually(15s, [&] {
        return replica.info("master_link_status") == "up" && std::stoll(replica.info("slave_repl_offset")) >= written;
    });
    if (!reached) {
        throw std::runtime_error{"the replica does not follow its master"};
    }
}

void replica_pair::stop_replication() { replica_.must({"REPLICAOF", "NO", "ONE"}); }

void replica_pair::fail_over() {
    master_.kill_hard();
    promote();
    gate_.cut();
}

void replica_pair::switch_over() {
    promote();
    master_.must({"REPLICAOF", "127.0.0.1", std::to_string(replica_.port())});
}

void replica_pair::promote() {
    replica_.must({"REPLICAOF", "NO", "ONE"});
    gate_.redirect(replica_.tcp());
}

}  // namespace tranca::testing
