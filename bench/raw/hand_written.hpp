#pragma once

// What a good C programmer writes with hiredis and nothing else: the baseline the library's rungs are measured against.
//
// hiredis as everybody uses it, with format strings: the same commands in the same round trips as the rung of that name
// (a test compares what the server receives), a fresh token from the system for each cycle, every reply looked at, and
// nothing more: no guard, no lease, no recovery. The release scripts are the library's, because their hash is sent.
// A cycle acquires and releases; what it does not get it throws std::runtime_error for.

#include <array>
#include <chrono>
#include <string>

#include "raw/wire.hpp"

namespace tranca::bench {

class hand_written {
public:
    using token = std::array<char, 33>;

    /// Loads the release scripts, once, as the library does.
    explicit hand_written(wire& redis);

    void naive_lock(const std::string& key);
    void timeout_lock(const std::string& key, int ttl_ms);
    void px_lock(const std::string& key, int ttl_ms);
    void clock_semaphore(const std::string& name, int limit, int ttl_ms);
    void fair_semaphore(const std::string& name, int limit, int ttl_ms);
    void guarded_semaphore(const std::string& name, int limit, int ttl_ms);

    /// What most would write today: one script that expires, counts and inserts, and ZREM.
    void counting_semaphore(const std::string& name, int limit, int ttl_ms);

    /// px_lock where others want it too: asks again after each pause until it is granted. What was granted.
    [[nodiscard]] token wait_for_px_lock(const std::string& key, int ttl_ms, std::chrono::microseconds pause);
    void release_px_lock(const std::string& key, const token& mine);

private:
    template <class... Arguments>
    answer command(const char* format, Arguments... arguments);
    template <class... Arguments>
    void append(const char* format, Arguments... arguments);
    answer last_of(int replies);

    [[nodiscard]] bool ask_for_px(const char* key, const token& mine, int ttl_ms);
    void take_px(const char* key, const token& mine, int ttl_ms);
    void release_lock(const char* key, const token& mine);
    void enter_fair(const std::string& name, const token& mine, int limit, int ttl_ms);
    void release_slot(const std::string& name, const token& mine);

    wire& redis_;
    std::string release_lock_sha_;
    std::string release_slot_sha_;
    std::string count_sha_;
};

}  // namespace tranca::bench
