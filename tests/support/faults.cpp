#include "support/faults.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/deadline.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

const std::string filler = "filler-of-the-test-kit";

void demand(bool reached, const char* what) {
    if (!reached) {
        throw std::runtime_error{std::string{"the server does not come to this state: "} + what};
    }
}

std::string config(redis_server& server, const std::string& name) {
    return server.must({"CONFIG", "GET", name})[1].text;
}

void configure(redis_server& server, const std::string& name, const std::string& value) {
    server.must({"CONFIG", "SET", name, value});
}

// Sets it for as long as the fault lasts.
fault configured(redis_server& server, const std::string& name, const std::string& value) {
    const std::string before = config(server, name);
    configure(server, name, value);
    return fault{[&server, name, before] { configure(server, name, before); }};
}

std::string info(redis_server& server, const std::string& field) {
    const std::string all = "\n" + server.must({"INFO", "ALL"}).text;
    const auto place = all.find("\n" + field + ":");
    if (place == std::string::npos) {
        return {};
    }
    const auto start = place + field.size() + 2;
    return all.substr(start, all.find('\r', start) - start);
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) {
        result.push_back(line);
    }
    return result;
}

// One field of a line of CLIENT LIST: "id=3 addr=... name=... flags=N".
std::string field(const std::string& line, const std::string& name) {
    const std::string text = " " + line + " ";
    const auto start = text.find(" " + name + "=") + name.size() + 2;
    return text.substr(start, text.find(' ', start) - start);
}

template <typename Chosen>
std::int64_t kill_clients(redis_server& server, Chosen&& chosen) {
    std::int64_t count = 0;
    for (const auto& line : lines(server.must({"CLIENT", "LIST"}).text)) {
        if (chosen(field(line, "name"))) {
            count += server.must({"CLIENT", "KILL", "ID", field(line, "id")}).integer;
        }
    }
    return count;
}

void fill_memory(redis_server& server) {
    server.must({"SETRANGE", filler, std::to_string(3'000'000), "x"});
    configure(server, "maxmemory", "1500000");
}

void free_memory(redis_server& server) {
    configure(server, "maxmemory", "0");
    server.must({"DEL", filler});
}

std::int64_t keys_with_ttl(redis_server& server) {
    std::int64_t sum = 0;
    for (const auto& line : lines(server.must({"INFO", "KEYSPACE"}).text)) {  // db0:keys=3,expires=1,avg_ttl=0
        const auto place = line.find("expires=");
        if (place != std::string::npos) {
            sum += std::stoll(line.substr(place + 8));
        }
    }
    return sum;
}

bool answers(redis_server& server, const char* error) { return server.command({"PING"}).is_error(error); }
bool is_well(redis_server& server) { return server.command({"PING"}) == "PONG"; }

void many_keys(redis_server& server, const char* command) {
    server.must({"EVAL",
                 "for i = 1, 60000 do redis.call('" + std::string{command} + "', KEYS[1] .. i" +
                     (std::string_view{command} == "SET" ? ", ''" : "") + ") end",
                 "1", filler});
}

}  // namespace

fault frozen(redis_server& server) {
    server.freeze();
    return fault{[&server] { server.resume(); }};
}

fault unreachable(redis_server& server) {
    server.kill_hard();
    return fault{[&server] { server.start_again(); }};
}

void restart_without_persistence(redis_server& server) { server.restart(); }

fault loading(redis_server& server) {
    many_keys(server, "SET");
    server.must({"SAVE"});
    server.start_again({"--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"},
                       readiness::answers);
    demand(answers(server, "LOADING"), "loading");
    return fault{[&server] {
        configure(server, "key-load-delay", "0");
        demand(eventually(10s, [&] { return is_well(server); }), "loaded");
        many_keys(server, "DEL");
        std::filesystem::remove(server.directory() / "dump.rdb");  // so that the next restart forgets again
    }};
}

fault busy_script(redis_server& server) {
    auto threshold = std::make_shared<fault>(configured(server, "lua-time-limit", "10"));
    auto runner = std::make_shared<raw_client>(server.raw());
    runner->send({"EVAL", "while true do end", "0"});
    demand(eventually(10s, [&] { return answers(server, "BUSY"); }), "busy");
    return fault{[&server, threshold, runner] {
        server.must({"SCRIPT", "KILL"});
        runner->receive();
        demand(eventually(10s, [&] { return is_well(server); }), "no longer busy");
        threshold->end();
    }};
}

fault demoted(redis_server& server) {
    server.must({"REPLICAOF", "127.0.0.1", "1"});
    return fault{[&server] { server.must({"REPLICAOF", "NO", "ONE"}); }};
}

fault no_replicas(redis_server& server) {
    return configured(server, "min-replicas-to-write", "99");
}  // no test has so many

fault out_of_memory(redis_server& server) {
    auto policy = std::make_shared<fault>(configured(server, "maxmemory-policy", "noeviction"));
    auto limit = std::make_shared<fault>(configured(server, "maxmemory", "1"));
    return fault{[policy, limit] {
        limit->end();
        policy->end();
    }};
}

std::int64_t evict_keys_with_ttl(redis_server& server) {
    const fault policy = configured(server, "maxmemory-policy", "volatile-ttl");
    const std::int64_t before = keys_with_ttl(server);
    fill_memory(server);
    const fault memory{[&server] { free_memory(server); }};
    demand(eventually(10s,
                      [&] {
                          server.command({"APPEND", filler, "x"});  // whatever it says, it makes room first
                          return keys_with_ttl(server) == 0;
                      }),
           "keys with a TTL evicted");
    return before;
}

// A dump cannot replace a directory: every BGSAVE fails, as on a disk that is gone.
fault disk_error(redis_server& server) {
    const auto dump = server.directory() / "dump.rdb";
    const auto saved = [&server](const char* status) {
        return eventually(10s, [&] {
            return info(server, "rdb_bgsave_in_progress") == "0" && info(server, "rdb_last_bgsave_status") == status;
        });
    };
    auto points = std::make_shared<fault>(configured(server, "save", "3600 1000000000"));
    std::filesystem::remove(dump);
    std::filesystem::create_directory(dump);
    server.must({"BGSAVE"});
    demand(saved("err"), "disk error");
    return fault{[&server, dump, points, saved] {
        std::filesystem::remove(dump);
        server.must({"BGSAVE"});
        demand(saved("ok"), "disk well again");
        std::filesystem::remove(dump);
        points->end();
    }};
}

void flush_scripts(redis_server& server) { server.must({"SCRIPT", "FLUSH", "SYNC"}); }

fault too_many_clients(redis_server& server, std::size_t more) {
    const std::size_t open = lines(server.must({"CLIENT", "LIST"}).text).size();
    return configured(server, "maxclients", std::to_string(open + more));
}

fault paused(redis_server& server, std::chrono::milliseconds span, paused_commands which) {
    server.must({"CLIENT", "PAUSE", std::to_string(span.count()), which == paused_commands::all ? "ALL" : "WRITE"});
    return fault{[&server] { server.must({"CLIENT", "UNPAUSE"}); }};
}

// The server looks through its connections about once a second; one that is idle after two seconds would be gone.
void close_idle_connections(redis_server& server) {
    const fault limit = configured(server, "timeout", "1");
    const stopwatch since_start;
    const auto open = server.must({"CLIENT", "LIST"}).text;
    const auto own = std::to_string(server.must({"CLIENT", "ID"}).integer);
    const auto must_go = [&](const std::string& line) {
        const bool exempt = field(line, "flags").find_first_of("bOPSM") != std::string::npos;
        const bool there = open.find("id=" + field(line, "id") + " ") != std::string::npos;
        const bool busy = since_start.elapsed() > 2100ms && field(line, "idle") == "0";
        return there && !exempt && !busy && field(line, "id") != own;
    };
    const auto all_gone = [&] { return std::ranges::none_of(lines(server.must({"CLIENT", "LIST"}).text), must_go); };
    demand(eventually(10s, all_gone), "idle connections closed");
}

std::int64_t kill_connections(redis_server& server) {
    return kill_clients(server, [](const std::string& name) { return name != raw_options{}.name; });
}

std::int64_t kill_connections(redis_server& server, std::string_view name) {
    return kill_clients(server, [name](const std::string& other) { return other == name; });
}

void make_wrong_type(redis_server& server, const std::string& key) {
    server.must({"DEL", key});
    server.must({"LPUSH", key, "x"});
}

void make_without_ttl(redis_server& server, const std::string& key, const std::string& value) {
    server.must({"SET", key, value});
}

void make_expired(redis_server& server, const std::string& key) { server.must({"PEXPIREAT", key, "1000"}); }

fault password_required(redis_server& server, const std::string& password) {
    const std::string before = config(server, "requirepass");
    server.set_password(password);
    return fault{[&server, before] { server.set_password(before); }};
}

std::unique_ptr<redis_server> single_node_cluster() {
    auto server = std::make_unique<redis_server>(redis_server_options{.arguments = {"--cluster-enabled", "yes"}});
    server->must({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    demand(eventually(15s,
                      [&] {
                          const auto state = server->must({"CLUSTER", "INFO"}).text;
                          return state.find("cluster_state:ok") != std::string::npos;
                      }),
           "cluster up");
    return server;
}

}  // namespace tranca::testing
