#include "support/cluster_set.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "support/deadline.hpp"

namespace tranca::testing {

using namespace std::chrono_literals;

namespace {

std::vector<std::string> node_settings(milliseconds node_timeout, const tls_certificates* tls) {
    std::vector<std::string> words{"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"};
    const auto add = [&](std::string_view name, std::string_view value) {
        words.emplace_back(name);
        words.emplace_back(value);
    };
    add("--cluster-node-timeout", std::to_string(node_timeout.count()));
    add("--cluster-replica-validity-factor", "0");
    add("--cluster-migration-barrier", "100");  // replicas stay with their masters
    add("--repl-diskless-sync", "yes");
    add("--repl-diskless-sync-delay", "0");
    add("--repl-diskless-load", "swapdb");
    add("--repl-ping-replica-period", "1");
    if (tls == nullptr) return words;
    add("--tls-cluster", "yes");
    add("--tls-replication", "yes");
    add("--tls-client-cert-file", tls->client_certificate().native());
    add("--tls-client-key-file", tls->client_key().native());
    return words;
}

// By which the other nodes know it.
std::uint16_t own_port(const redis_server& node) { return node.tls().port != 0 ? node.tls().port : node.port(); }

std::string field_in(const std::string& text, std::string_view name) {
    const auto label = std::string{name} + ":";
    const auto found = text.find(label);
    if (found == std::string::npos) return {};
    const auto start = found + label.size();
    return text.substr(start, text.find_first_of("\r\n", start) - start);
}

}  // namespace

cluster_set::cluster_set(milliseconds node_timeout, const tls_certificates* tls) {
    for (auto& each : servers_)
        each = std::make_unique<redis_server>(
            redis_server_options{.arguments = node_settings(node_timeout, tls), .tls = tls});
    join();
    share_out();
    follow_masters();
    wait_until_whole();
}

void cluster_set::join() {
    for (std::size_t i = 0; i < size; ++i)
        server(i).must({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    for (std::size_t i = 1; i < size; ++i)
        server(0).must({"CLUSTER", "MEET", "127.0.0.1", std::to_string(own_port(server(i)))});
    const auto all_known = [&] {
        return std::ranges::all_of(servers_, [](const auto& each) {
            return field_in(each->must({"CLUSTER", "INFO"}).text, "cluster_known_nodes") == std::to_string(size);
        });
    };
    if (!eventually(30s, all_known)) throw std::runtime_error{"the nodes of a Cluster did not come together"};
}

void cluster_set::share_out() {
    for (std::size_t i = 0; i < masters; ++i) {
        command_text words{"CLUSTER", "ADDSLOTS"};
        for (auto slot = i * slots / masters; slot < (i + 1) * slots / masters; ++slot)
            words.push_back(std::to_string(slot));
        server(i).must(words);
    }
}

void cluster_set::follow_masters() {
    for (std::size_t i = masters; i < size; ++i) {
        const auto master = id_of(server(i - masters));
        const bool follows = eventually(10s, [&] {
            return !server(i).command({"CLUSTER", "REPLICATE", master}).is_error();
        });
        if (!follows) throw std::runtime_error{"a replica does not know its master"};
    }
}

std::string cluster_set::url(std::string_view account) const {
    return "redis-cluster://" + std::string{account} + hosts(&redis_server::tcp);
}

std::string cluster_set::tls_url() const { return "rediss-cluster://" + hosts(&redis_server::tls); }

std::string cluster_set::hosts(address (redis_server::*where)() const) const {
    std::string all;
    for (std::size_t i = 0; i < masters; ++i)
        all += (all.empty() ? "" : ",") + (*servers_[i].*where)().text();
    return all;
}

std::string cluster_set::id_of(redis_server& server) { return server.must({"CLUSTER", "MYID"}).text; }

std::size_t cluster_set::index_of(const redis_server& server) const {
    for (std::size_t i = 0; i < size; ++i)
        if (servers_[i].get() == &server) return i;
    throw std::runtime_error{"a server of another set"};
}

redis_server& cluster_set::owner_of(unsigned slot) {
    for (auto& each : servers_) {
        if (!each->running()) continue;
        const auto ranges = each->must({"CLUSTER", "SLOTS"});
        for (const auto& range : ranges.items) {
            if (range[0].integer > slot || range[1].integer < slot) continue;
            for (auto& owner : servers_)
                if (range[2][1] == owner->port()) return *owner;
        }
        break;
    }
    throw std::runtime_error{"nobody owns slot " + std::to_string(slot)};
}

std::vector<std::size_t> cluster_set::master_indices() {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < masters; ++i)
        found.push_back(index_of(owner_of(static_cast<unsigned>(i * slots / masters))));
    return found;
}

void cluster_set::begin_move(unsigned slot, redis_server& from, redis_server& to) {
    to.must({"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id_of(from)});
    from.must({"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id_of(to)});
}

void cluster_set::move_keys(unsigned slot, redis_server& from, redis_server& to, std::string_view prefix) {
    const auto keys = from.must({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "1000"});
    command_text words{"MIGRATE", "127.0.0.1", std::to_string(own_port(to)), "", "0", "5000", "KEYS"};
    for (const auto& each : keys.items)
        if (each.text.starts_with(prefix)) words.push_back(each.text);
    if (words.size() > 7) from.must(words);
}

void cluster_set::end_move(unsigned slot, redis_server& from, redis_server& to) {
    const auto number = std::to_string(slot);
    const auto owner = id_of(to);
    // What is left must have gone before anybody hears of the new owner: the old one then deletes what it has.
    const bool left = eventually(10s, [&] {
        move_keys(slot, from, to);
        return from.must({"CLUSTER", "COUNTKEYSINSLOT", number}) == 0;
    });
    if (!left) throw std::runtime_error{"a slot does not become empty"};
    to.must({"CLUSTER", "SETSLOT", number, "NODE", owner});
    from.must({"CLUSTER", "SETSLOT", number, "NODE", owner});
    for (auto& each : servers_)  // a replica refuses, and hears of it
        if (each->running()) static_cast<void>(each->command({"CLUSTER", "SETSLOT", number, "NODE", owner}));
}

void cluster_set::move_slot(unsigned slot, std::size_t to) {
    auto& from = owner_of(slot);
    if (&from == &server(to)) return;
    begin_move(slot, from, server(to));
    move_keys(slot, from, server(to));
    end_move(slot, from, server(to));
}

bool cluster_set::is_whole() {
    try {
        std::size_t replicas = 0;
        for (auto& each : servers_) {
            if (!each->running()) continue;
            const auto info = each->must({"CLUSTER", "INFO"}).text;
            if (field_in(info, "cluster_state") != "ok" || field_in(info, "cluster_size") != std::to_string(masters))
                return false;
            const auto nodes = each->must({"CLUSTER", "NODES"}).text;
            if (nodes.find("fail") != std::string::npos || nodes.find("disconnected") != std::string::npos ||
                nodes.find("handshake") != std::string::npos)
                return false;
            auto line = each->raw();
            if (line.info("role") == "slave") replicas += line.info("master_link_status") == "up" ? 1U : 0U;
        }
        const auto owners = master_indices();
        for (const auto owner : owners)
            if (server(owner).raw().info("connected_slaves") == "0") return false;
        return replicas == size - masters;
    } catch (const std::runtime_error&) {
        return false;  // one that changes its role closes its connections
    }
}

void cluster_set::wait_until_whole() {
    if (!eventually(60s, [&] { return is_whole(); })) throw std::runtime_error{"the Cluster does not become whole"};
    wait_in_sync();
}

void cluster_set::wait_in_sync() {
    for (auto& each : servers_) {
        auto line = each->raw();
        if (line.info("role") != "slave") continue;
        const auto port = line.info("master_port");
        const auto master =
            std::ranges::find_if(servers_, [&](const auto& one) { return std::to_string(own_port(*one)) == port; });
        const auto written = std::stoll("0" + (*master)->raw().info("master_repl_offset"));
        if (!eventually(15s, [&] { return std::stoll("0" + line.info("slave_repl_offset")) >= written; }))
            throw std::runtime_error{"a replica does not follow its master"};
    }
}

redis_server& cluster_set::wait_for_heir(const redis_server& dead, unsigned slot) {
    const bool found = eventually(40s, [&] {
        for (auto& each : servers_) {
            if (each.get() == &dead) continue;
            const auto ranges = each->must({"CLUSTER", "SLOTS"});
            for (const auto& range : ranges.items)
                if (range[0].integer <= slot && slot <= range[1].integer && range[2][1] == dead.port()) return false;
            if (field_in(each->must({"CLUSTER", "INFO"}).text, "cluster_state") != "ok") return false;
        }
        return true;
    });
    if (!found) throw std::runtime_error{"no replica takes the place of a master"};
    for (auto& each : servers_) {
        if (each.get() == &dead) continue;
        const auto ranges = each->must({"CLUSTER", "SLOTS"});
        for (const auto& range : ranges.items)
            for (auto& owner : servers_)
                if (range[0].integer <= slot && slot <= range[1].integer && range[2][1] == owner->port()) return *owner;
    }
    throw std::runtime_error{"nobody owns slot " + std::to_string(slot)};
}

// Those that a test left half-way: "[866->-id]" in the line of the node itself.
void cluster_set::close_open_slots(redis_server& server) {
    const auto nodes = server.must({"CLUSTER", "NODES"}).text;
    for (auto open = nodes.find('['); open != std::string::npos; open = nodes.find('[', open + 1))
        server.must({"CLUSTER", "SETSLOT", nodes.substr(open + 1, nodes.find('-', open) - open - 1), "STABLE"});
}

void cluster_set::clear() {
    for (auto& each : servers_) {
        if (!each->running()) each->start_again();
        each->resume();
    }
    wait_until_whole();
    for (auto& each : servers_)
        close_open_slots(*each);
    for (const auto index : master_indices()) {
        server(index).must({"FLUSHALL"});
        server(index).must({"SCRIPT", "FLUSH"});
    }
    for (auto& each : servers_)
        each->must({"CONFIG", "RESETSTAT"});
    wait_in_sync();
}

void cluster_set::set_account(const std::string& user, const std::string& password, const std::string& rights) {
    command_text words{"ACL", "SETUSER", user, "reset", "on", ">" + password, "~*"};
    std::istringstream list{rights};
    for (std::string right; list >> right;)
        words.push_back(right);
    for (auto& each : servers_)
        each->must(words);
}

std::int64_t cluster_set::errors_said(std::string_view word) {
    std::int64_t all = 0;
    for (auto& each : servers_) {
        if (!each->running()) continue;
        const auto count = field_in(each->must({"INFO", "ERRORSTATS"}).text, "errorstat_" + std::string{word});
        if (!count.empty()) all += std::stoll(count.substr(count.find('=') + 1));
    }
    return all;
}

std::int64_t cluster_set::calls(std::string_view command) {
    std::int64_t all = 0;
    for (auto& each : servers_)
        if (each->running()) all += each->raw().calls(command);
    return all;
}

std::int64_t cluster_set::clients_named(std::string_view name) {
    const auto wanted = " name=" + std::string{name} + " ";
    std::int64_t count = 0;
    for (auto& each : servers_) {
        std::istringstream lines{each->must({"CLIENT", "LIST"}).text};
        for (std::string line; std::getline(lines, line);)
            count += line.find(wanted) != std::string::npos ? 1 : 0;
    }
    return count;
}

}  // namespace tranca::testing
