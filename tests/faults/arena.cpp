#include "faults/arena.hpp"

#include <csignal>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/deadline.hpp"

namespace tranca::faults_test {

namespace {

using namespace std::chrono_literals;
using testing::redis_server;
using testing::tcp_gate;

// A machine that gives a sleeper no time for so long has stalled.
constexpr instant stall = 20'000'000;

std::string worker_program() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tranca_faults_worker";
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream all;
    all << std::ifstream{file}.rdbuf();
    return all.str();
}

// What may stay for a while: fences and states, the traces of waiters, a semaphore's holders. Not a lock.
bool is_a_lock(const std::string& key) { return key.starts_with("lock:"); }

}  // namespace

arena::arena(const arena_settings& settings, std::uint64_t seed)
    : settings_{settings}, random_{seed}, log_{home_ / "nemesis.jsonl"} {
    std::vector<std::string> arguments;
    if (settings.on_disk) arguments = {"--appendonly", "yes", "--appendfsync", "always"};
    if (settings.has_replica) pair_.emplace();
    else
        for (std::size_t i = 0; i < settings.servers; ++i) {
            servers_.push_back(std::make_unique<redis_server>(redis_server::options{.arguments = arguments}));
            gates_.push_back(std::make_unique<tcp_gate>(servers_.back()->tcp()));
        }
    resource_.emplace(home_ / "register.sock", home_ / "register.jsonl", settings.checks);
    begun_ = now();
    for (std::size_t client = 0; client < settings.clients; ++client) {
        clients_.emplace_back();
        start(client);
    }
    watcher_ = std::jthread{[this](const std::stop_token& stop) { watch_the_machine(stop); }};
}

arena::~arena() {
    for (auto& client : clients_)
        client.kill_hard();
}

milliseconds arena::between(milliseconds least, milliseconds most) {
    return least + milliseconds{static_cast<std::int64_t>(below(static_cast<std::size_t>((most - least).count()) + 1))};
}

redis_server& arena::server(std::size_t number) {
    if (!pair_) return *servers_.at(number);
    return pair_->master().running() ? pair_->master() : pair_->replica();
}

tcp_gate& arena::gate(std::size_t number) { return pair_ ? pair_->gate() : *gates_.at(number); }

std::vector<std::string> arena::urls() const {
    if (pair_) return {pair_->url()};
    std::vector<std::string> all;
    for (const auto& each : gates_)
        all.push_back(each->url());
    return all;
}

void arena::start(std::size_t client) {
    auto load = settings_.load;
    load.urls = urls();
    load.file = home_ / ("client-" + std::to_string(started_++) + ".jsonl");
    load.resource = home_ / "register.sock";
    load.seed = random_();
    load.client = static_cast<std::int64_t>(client);
    auto words = words_of(load);
    words.insert(words.begin(), worker_program());
    clients_.at(client) = testing::process::start(words, {.output = home_ / "clients.log"});
}

void arena::kill(std::size_t client) {
    tell("kill", clients_.at(client).pid());
    clients_.at(client).kill_hard();
    start(client);
}

void arena::stop(std::size_t client, milliseconds time) {
    auto& victim = clients_.at(client);
    tell("stop", victim.pid());
    victim.freeze();
    std::this_thread::sleep_for(time);
    victim.resume();
    tell("continue", victim.pid());
}

void arena::tell(const std::string& fault, std::int64_t target) const {
    log_.write({.operation = op::nemesis, .attempt = fault, .target = target});
}

// On a machine with other work whatever takes time takes more: how much is written down, and bounds are stretched by it.
void arena::watch_the_machine(const std::stop_token& stop) const {
    for (auto before = now(); !stop.stop_requested();) {
        std::this_thread::sleep_for(1ms);
        const auto later = now();
        if (later - before > stall)
            log_.write({.time = before, .operation = op::nemesis, .attempt = "stall", .value = later - before});
        before = later;
    }
}

void arena::end_clients() {
    for (auto& client : clients_)
        client.signal(SIGTERM);
    // One that was only just started may not know yet how to end.
    const testing::exit_status at_once{.by_signal = true, .code = SIGTERM};
    for (auto& client : clients_)
        if (const auto how = client.wait(15s); !how || !(how->ok() || *how == at_once)) {
            std::ostringstream text;
            text << "client " << client.pid() << ", told to end, ";
            if (how) text << *how;
            else text << "goes on";
            throw std::runtime_error{text.str() + "\n" + text_of(home_ / "clients.log")};
        }
}

std::vector<std::string> arena::residue() {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < servers(); ++i) {
        auto raw = server(i).raw();
        if (raw.info("blocked_clients") != "0") found.push_back(raw.info("blocked_clients") + " clients that block");
        for (const auto& key : raw.keys()) {
            const auto ttl = raw.pttl(key);
            if (ttl == -1) found.push_back(key + " without a ttl");
            else if (ttl >= 0 && is_a_lock(key))
                found.push_back(key + ", held for " + std::to_string(ttl) + " ms more");
        }
    }
    return found;
}

void arena::look_for_residue() {
    std::vector<std::string> found;
    const auto limit = std::min<milliseconds>(settings_.load.ttl, 1s) + 1s;
    if (testing::eventually(limit, [&] {
            found = residue();
            return found.empty();
        }))
        return;
    for (const auto& what : found)
        log_.write({.operation = op::residue, .phase = phase::failed, .lock = what, .why = what});
}

history arena::end() {
    end_clients();
    watcher_ = {};
    look_for_residue();
    resource_.reset();
    return read_histories(home_.path());
}

}  // namespace tranca::faults_test
