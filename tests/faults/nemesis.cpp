#include "faults/nemesis.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "support/faults.hpp"

namespace tranca::faults_test {

namespace {

using namespace std::chrono_literals;
using testing::direction;
using testing::fault;

void rest(milliseconds time) { std::this_thread::sleep_for(time); }

// What the library sends to take or give something.
testing::command_match asking() { return testing::named("SET|EVAL|EVALSHA"); }

void lose(arena& place, direction way, const char* name) {
    place.tell(name);
    auto& gate = place.gate(place.below(place.servers()));
    gate.black_hole(way);
    rest(place.between(20ms, 150ms));
    if (place.below(2) == 0) gate.cut();
    gate.pass();
}

}  // namespace

void kill_client(arena& place) { place.kill(place.below(place.clients())); }

void stop_client(arena& place) {
    place.stop(place.below(place.clients()), place.between(10ms, place.settings().load.ttl * 3 / 2));
}

void freeze_server(arena& place) {
    place.tell("freeze_server");
    auto& victim = place.server(place.below(place.servers()));
    victim.freeze();
    rest(place.between(10ms, 250ms));
    victim.resume();
}

void restart_server(arena& place) {
    place.tell("restart_server");
    place.server(place.below(place.servers())).restart();
}

void pause_server(arena& place) {
    place.tell("pause_server");
    const auto which = place.below(2) == 0 ? testing::paused_commands::writes : testing::paused_commands::all;
    const fault paused = testing::paused(place.server(), 150ms, which);
    rest(place.between(20ms, 120ms));
}

void pause_waiter(arena& place) {
    place.tell("pause_waiter");
    auto& gate = place.gate();
    const auto block = gate.hold(testing::named("BLPOP"));
    static_cast<void>(gate.wait_until_held(300ms));
    const auto longer = place.settings().load.wait + 100ms;
    const fault paused = testing::paused(place.server(), 2 * longer, testing::paused_commands::writes);
    gate.let_go(block);
    rest(longer);
}

void busy_server(arena& place) {
    place.tell("busy_server");
    const fault busy = testing::busy_script(place.server());
    rest(100ms);
}

void fill_memory(arena& place) {
    place.tell("fill_memory");
    const fault full = testing::out_of_memory(place.server());
    rest(100ms);
}

void demote_server(arena& place) {
    place.tell("demote_server");
    const fault demoted = testing::demoted(place.server());
    rest(100ms);
}

void flush_scripts(arena& place) {
    place.tell("flush_scripts");
    testing::flush_scripts(place.server(place.below(place.servers())));
}

void close_connections(arena& place) {
    place.tell("close_connections");
    testing::kill_connections(place.server(place.below(place.servers())));
}

void flush_all(arena& place) {
    place.tell("flush_all");
    place.server().must({"FLUSHALL"});
}

void cut_power(arena& place) {
    place.tell("cut_power");
    auto& victim = place.server();
    victim.kill_hard();
    std::filesystem::path last;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{victim.directory()})
        if (entry.path().string().ends_with(".incr.aof")) last = std::max(last, entry.path());
    const auto size = std::filesystem::file_size(last);
    std::filesystem::resize_file(last, size - std::min<std::uintmax_t>(size, 2'000 + place.below(10'000)));
    victim.start_again();
}

void evict_all(arena& place) {
    place.tell("evict_all");
    testing::evict_keys_with_ttl(place.server());
}

void delete_locks(arena& place) {
    place.tell("delete_locks");
    for (const auto* key : {"lock:thing", "semaphore:thing", "lock:a"})
        place.server().must({"DEL", key});
}

void fail_over(arena& place) {
    if (!place.pair().master().running()) return;
    place.tell("fail_over");
    place.pair().stop_replication();
    // Whoever held it before is known to the replica: it has to go first.
    rest(place.settings().load.ttl + 50ms);
    place.pair().fail_over();
}

void cut_links(arena& place) {
    place.tell("cut_links");
    place.gate(place.below(place.servers())).cut();
}

void delay_links(arena& place) {
    place.tell("delay_links");
    auto& gate = place.gate(place.below(place.servers()));
    gate.delay_requests({0ms, 20ms});
    gate.delay_replies({0ms, 20ms});
    rest(200ms);
    gate.pass();
}

void lose_requests(arena& place) { lose(place, direction::to_server, "lose_requests"); }
void lose_replies(arena& place) { lose(place, direction::to_client, "lose_replies"); }

void swallow_reply(arena& place) {
    place.tell("swallow_reply");
    auto& gate = place.gate(place.below(place.servers()));
    gate.swallow_reply(asking());
    static_cast<void>(gate.wait_until_swallowed(200ms));
}

void hold_request(arena& place) {
    place.tell("hold_request");
    auto& gate = place.gate(place.below(place.servers()));
    const auto held = gate.hold(asking());
    rest(place.between(10ms, 500ms));
    gate.let_go(held);
}

const std::map<std::string, std::function<void(arena&)>>& nemeses() {
    static const std::map<std::string, std::function<void(arena&)>> all{{"kill_client", kill_client},
                                                                        {"stop_client", stop_client},
                                                                        {"freeze_server", freeze_server},
                                                                        {"restart_server", restart_server},
                                                                        {"pause_server", pause_server},
                                                                        {"pause_waiter", pause_waiter},
                                                                        {"busy_server", busy_server},
                                                                        {"fill_memory", fill_memory},
                                                                        {"demote_server", demote_server},
                                                                        {"flush_scripts", flush_scripts},
                                                                        {"close_connections", close_connections},
                                                                        {"flush_all", flush_all},
                                                                        {"cut_power", cut_power},
                                                                        {"evict_all", evict_all},
                                                                        {"delete_locks", delete_locks},
                                                                        {"fail_over", fail_over},
                                                                        {"cut_links", cut_links},
                                                                        {"delay_links", delay_links},
                                                                        {"lose_requests", lose_requests},
                                                                        {"lose_replies", lose_replies},
                                                                        {"swallow_reply", swallow_reply},
                                                                        {"hold_request", hold_request}};
    return all;
}

}  // namespace tranca::faults_test
