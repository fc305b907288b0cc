#include "support/sentinel_set.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "support/deadline.hpp"
#include "support/socket.hpp"

namespace tranca::testing {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view quorum = "2";

std::string on_loopback(std::uint16_t port) { return " 127.0.0.1 " + std::to_string(port); }

}  // namespace

sentinel_set::sentinel_set(options settings) : settings_{std::move(settings)} {
    start_servers();
    for (std::size_t i = 0; i < size; ++i) {
        sentinels_[i].port = free_port();
        if (settings_.tls != nullptr) sentinels_[i].tls_port = free_port();
        sentinels_[i].id = std::string(40, static_cast<char>('a' + i));
    }
    for (std::size_t i = 0; i < size; ++i)
        start_sentinel(i);
    wait_until_whole();
}

std::vector<std::string> sentinel_set::server_arguments() const {
    std::vector<std::string> words{"--repl-diskless-sync",
                                   "yes",
                                   "--repl-diskless-sync-delay",
                                   "0",
                                   "--repl-diskless-load",
                                   "swapdb",
                                   "--repl-ping-replica-period",
                                   "1",
                                   "--masterauth",
                                   settings_.server_password};
    if (settings_.through_gates) words.insert(words.end(), {"--bind-source-addr", own_address});
    if (settings_.tls != nullptr) words.insert(words.end(), {"--tls-replication", "yes"});
    return words;
}

void sentinel_set::start_servers() {
    const redis_server_options each_of_them{
        .arguments = server_arguments(), .password = settings_.server_password, .tls = settings_.tls};
    for (auto& each : servers_)
        each = std::make_unique<redis_server>(each_of_them);
    if (settings_.through_gates) put_behind_gates();
    for (std::size_t i = 1; i < size; ++i)
        servers_[i]->must({"REPLICAOF", "127.0.0.1", std::to_string(port(0))});
}

void sentinel_set::put_behind_gates() {
    for (std::size_t i = 0; i < size; ++i) {
        gates_[i] = std::make_unique<tcp_gate>(servers_[i]->tcp());
        servers_[i]->must({"CONFIG", "SET", "replica-announce-ip", "127.0.0.1"});
        servers_[i]->must({"CONFIG", "SET", "replica-announce-port", std::to_string(port(i))});
    }
}

std::uint16_t sentinel_set::port(std::size_t index) const {
    if (gates_.at(index)) return gates_[index]->where().port;
    return settings_.tls != nullptr ? servers_.at(index)->tls().port : servers_.at(index)->port();
}

std::string sentinel_set::settings_of(std::size_t index) const {
    const std::string of{name};
    std::ostringstream text;
    text << "port " << sentinels_[index].port << "\nbind 127.0.0.1\ndir " << home_.path().native() << "\nsentinel myid "
         << sentinels_[index].id << "\nsentinel monitor " << of << on_loopback(port(0)) << ' ' << quorum
         << "\nsentinel down-after-milliseconds " << of << " 300\nsentinel failover-timeout " << of
         << " 2000\nsentinel parallel-syncs " << of << " 2\n";
    if (!settings_.server_password.empty())
        text << "sentinel auth-pass " << of << ' ' << settings_.server_password << '\n';
    if (!settings_.sentinel_password.empty())
        text << "requirepass " << settings_.sentinel_password << "\nsentinel sentinel-pass "
             << settings_.sentinel_password << '\n';
    if (settings_.through_gates) text << "bind-source-addr " << own_address << "\nsentinel announce-ip 127.0.0.1\n";
    if (settings_.tls != nullptr) text << tls_settings(index);
    for (std::size_t i = 1; i < size; ++i)
        text << "sentinel known-replica " << of << on_loopback(port(i)) << '\n';
    for (std::size_t i = 0; i < size; ++i)
        if (i != index)
            text << "sentinel known-sentinel " << of << on_loopback(sentinels_[i].own_port()) << ' ' << sentinels_[i].id
                 << '\n';
    return text.str();
}

std::string sentinel_set::tls_settings(std::size_t index) const {
    std::ostringstream text;
    text << "tls-port " << sentinels_[index].tls_port << "\ntls-replication yes\ntls-auth-clients no\ntls-ca-cert-file "
         << settings_.tls->ca().native() << "\ntls-cert-file " << settings_.tls->server_certificate().native()
         << "\ntls-key-file " << settings_.tls->server_key().native() << '\n';
    return text.str();
}

void sentinel_set::start_sentinel(std::size_t index) {
    const auto file = home_ / ("sentinel-" + std::to_string(index) + ".conf");
    std::ofstream{file} << settings_of(index);
    const char* const chosen = std::getenv("TRANCA_TEST_SERVER");
    const std::string program = chosen != nullptr && *chosen != '\0' ? chosen : "redis-server";
    auto& mine = sentinels_[index];
    mine.running =
        process::start({program, file.native(), "--sentinel"},
                       {.output = home_ / ("sentinel-" + std::to_string(index) + ".log"), .directory = home_.path()});
    if (!eventually(10s, [&] { return named_by(index) != 0; })) throw std::runtime_error{"a sentinel did not start"};
    // Faster at what it does once in some seconds; where it is not known, it only takes longer.
    ask(index, {"SENTINEL", "DEBUG", "INFO-PERIOD", "200", "ASK-PERIOD", "200", "PUBLISH-PERIOD", "200"});
}

std::string sentinel_set::url(std::string_view account) const {
    std::string hosts;
    for (const auto& each : sentinels_)
        hosts += (hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each.port);
    return "redis-sentinel://" + std::string{account} + hosts + "/" + std::string{name};
}

std::size_t sentinel_set::index_of(std::uint16_t known) const {
    for (std::size_t i = 0; i < size; ++i)
        if (port(i) == known) return i;
    throw std::runtime_error{"no server of this set has the port " + std::to_string(known)};
}

std::string sentinel_set::tls_url() const {
    std::string hosts;
    for (const auto& each : sentinels_)
        hosts += (hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each.tls_port);
    return "rediss-sentinel://" + hosts + "/" + std::string{name};
}

redis_value sentinel_set::ask(std::size_t index, const command_text& words) {
    raw_client line{address::tcp(sentinels_.at(index).port),
                    {.password = settings_.sentinel_password, .timeout = 1s, .name = {}}};
    return line.command(words);
}

std::uint16_t sentinel_set::named_by(std::size_t index) {
    try {
        const auto answer = ask(index, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", std::string{name}});
        return answer.items.size() == 2 ? static_cast<std::uint16_t>(std::stoi(answer.items[1].text))
                                        : std::uint16_t{0};
    } catch (const raw_error&) {
        return 0;
    }
}

std::uint16_t sentinel_set::master_port() {
    std::map<std::uint16_t, int> votes;
    for (std::size_t i = 0; i < size; ++i)
        if (sentinels_[i].running.running()) ++votes[named_by(i)];
    votes.erase(0);
    std::uint16_t most = 0;
    for (const auto& [port, count] : votes)
        if (most == 0 || count > votes[most]) most = port;
    return most;
}

std::string sentinel_set::role_of(std::uint16_t port) {
    try {
        return server_at(port).raw().info("role");
    } catch (const raw_error&) {
        return {};
    }
}

redis_server& sentinel_set::wait_for_another_master(std::uint16_t old) {
    std::uint16_t next = 0;
    const bool found = eventually(40s, [&] {
        // One that was asked for and came to nothing (a busy machine) is not begun again by itself; while it goes on, it is refused.
        if (replacing_ == old && named_by(0) == old) ask(0, {"SENTINEL", "FAILOVER", std::string{name}});
        next = master_port();
        return next != 0 && next != old && role_of(next) == "master";
    });
    replacing_ = 0;
    if (!found) throw std::runtime_error{"the sentinels agree on no other master"};
    return server_at(next);
}

bool sentinel_set::sees_replicas(std::size_t index) {
    const auto replicas = ask(index, {"SENTINEL", "REPLICAS", std::string{name}});
    if (replicas.items.size() != size - 1) return false;
    for (const auto& each : replicas.items)
        for (std::size_t field = 0; field + 1 < each.items.size(); field += 2) {
            const auto& value = each.items[field + 1].text;
            if (each.items[field].text == "flags" && value != "slave") return false;  // down, or no link to it
            if (each.items[field].text == "master-link-status" && value != "ok") return false;
        }
    return true;
}

bool sentinel_set::is_whole() {
    try {
        const auto port = master_port();
        if (port == 0 || server_at(port).raw().info("connected_slaves") != std::to_string(size - 1)) return false;
        for (std::size_t i = 0; i < size; ++i)
            if (named_by(i) != port || !sees_replicas(i)) return false;
        return true;
    } catch (const raw_error&) {
        return false;  // one that changes its role closes its connections
    }
}

void sentinel_set::wait_until_whole() {
    if (!eventually(60s, [&] { return is_whole(); }))
        throw std::runtime_error{"the replicas and sentinels did not come together"};
    wait_in_sync();
}

// Looked at anew each time: a master that is replaced meanwhile may have written more than the next one ever knew.
void sentinel_set::wait_in_sync() {
    const auto in_sync = [&] {
        try {
            const auto& master = this->master();
            const auto written = std::stoll(master.raw().info("master_repl_offset"));
            for (const auto& each : servers_)
                if (each.get() != &master && std::stoll("0" + each->raw().info("slave_repl_offset")) < written)
                    return false;
            return true;
        } catch (const std::runtime_error&) {
            return false;  // one that changes its role closes its connections; no sentinel may know a master
        }
    };
    if (!eventually(60s, in_sync)) throw std::runtime_error{"a replica does not follow its master"};
}

void sentinel_set::fail_over() {
    const auto old = master_port();
    const bool begun = eventually(20s, [&] {
        return !ask(0, {"SENTINEL", "FAILOVER", std::string{name}}).is_error() || named_by(0) != old;
    });
    if (!begun) throw std::runtime_error{"the sentinel will not fail over"};
    replacing_ = old;
}

std::int64_t sentinel_set::sentinel_connections_received() {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const auto text = ask(i, {"INFO", "STATS"}).text;
        constexpr std::string_view label = "total_connections_received:";
        all += std::stoll(text.substr(text.find(label) + label.size()));
    }
    return all;
}

}  // namespace tranca::testing
