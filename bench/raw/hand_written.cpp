#include "raw/hand_written.hpp"

#include <sys/random.h>
#include <sys/time.h>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <tranca/scripts.hpp>

namespace tranca::bench {
namespace {

constexpr int helper_ttl_ms = 1'000;

std::array<char, 33> fresh_token() {
    std::array<unsigned char, 16> bits{};
    if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) {
        throw std::runtime_error("getrandom failed");
    }
    constexpr char digits[] = "0123456789abcdef";
    std::array<char, 33> text{};
    for (std::size_t i = 0; i < bits.size(); ++i) {
        text[2 * i] = digits[bits[i] >> 4U];
        text[2 * i + 1] = digits[bits[i] & 15U];
    }
    return text;
}

// The book's scores: seconds of the wall clock, with six decimals.
std::array<char, 32> seconds_now(int less_ms = 0) {
    timeval now{};
    gettimeofday(&now, nullptr);
    const long long micros = now.tv_sec * 1'000'000LL + now.tv_usec - less_ms * 1'000LL;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%lld.%06lld", micros / 1'000'000, micros % 1'000'000);
    return text;
}

constexpr std::string_view count_and_insert =
    "local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000) "
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now) "
    "if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end "
    "redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1]) redis.call('PEXPIRE', KEYS[1], ARGV[3]) return 1";

void expect(bool held, const char* what) {
    if (!held) throw std::runtime_error(what);
}

}  // namespace

hand_written::hand_written(wire& redis)
    : redis_(redis),
      release_lock_sha_(redis.ask("SCRIPT", "LOAD", scripts::release_lock().text()).text()),
      release_slot_sha_(redis.ask("SCRIPT", "LOAD", scripts::release_slot().text()).text()),
      count_sha_(redis.ask("SCRIPT", "LOAD", count_and_insert).text()) {}

template <class... Arguments>
answer hand_written::command(const char* format, Arguments... arguments) {
    append(format, arguments...);
    return redis_.next();
}

template <class... Arguments>
void hand_written::append(const char* format, Arguments... arguments) {
    redisAppendCommand(redis_.context(), format, arguments...);
}

answer hand_written::last_of(int replies) {
    for (int i = 1; i < replies; ++i)
        redis_.next();
    return redis_.next();
}

void hand_written::naive_lock(const std::string& key) {
    const auto mine = fresh_token();
    expect(command("SETNX %s %s", key.c_str(), mine.data()).integer() == 1, "SETNX: busy");
    release_lock(key.c_str(), mine);
}

void hand_written::timeout_lock(const std::string& key, int ttl_ms) {
    const auto mine = fresh_token();
    expect(command("SETNX %s %s", key.c_str(), mine.data()).integer() == 1, "SETNX: busy");
    command("PEXPIRE %s %d", key.c_str(), ttl_ms);
    release_lock(key.c_str(), mine);
}

void hand_written::px_lock(const std::string& key, int ttl_ms) {
    const auto mine = fresh_token();
    take_px(key.c_str(), mine, ttl_ms);
    release_lock(key.c_str(), mine);
}

void hand_written::clock_semaphore(const std::string& name, int limit, int ttl_ms) {
    const auto mine = fresh_token();
    append("MULTI");
    append("ZREMRANGEBYSCORE %s -inf %s", name.c_str(), seconds_now(ttl_ms).data());
    append("ZADD %s %s %s", name.c_str(), seconds_now().data(), mine.data());
    append("ZRANK %s %s", name.c_str(), mine.data());
    append("EXEC");
    expect(last_of(5).integer(2) < limit, "clock semaphore: full");
    expect(command("EVALSHA %s 1 %s %s", release_slot_sha_.c_str(), name.c_str(), mine.data()).integer() == 1,
           "clock semaphore: slot lost");
}

void hand_written::fair_semaphore(const std::string& name, int limit, int ttl_ms) {
    const auto mine = fresh_token();
    enter_fair(name, mine, limit, ttl_ms);
    release_slot(name, mine);
}

void hand_written::guarded_semaphore(const std::string& name, int limit, int ttl_ms) {
    const auto helper = "lock:" + name;
    const auto entrance = fresh_token();
    take_px(helper.c_str(), entrance, helper_ttl_ms);
    const auto mine = fresh_token();
    enter_fair(name, mine, limit, ttl_ms);
    release_lock(helper.c_str(), entrance);
    release_slot(name, mine);
}

hand_written::token hand_written::wait_for_px_lock(const std::string& key, int ttl_ms,
                                                   std::chrono::microseconds pause) {
    const auto mine = fresh_token();
    while (!ask_for_px(key.c_str(), mine, ttl_ms))
        std::this_thread::sleep_for(pause);
    return mine;
}

void hand_written::counting_semaphore(const std::string& name, int limit, int ttl_ms) {
    const auto mine = fresh_token();
    expect(
        command("EVALSHA %s 1 %s %s %d %d", count_sha_.c_str(), name.c_str(), mine.data(), limit, ttl_ms).integer() ==
            1,
        "semaphore: full");
    expect(command("ZREM %s %s", name.c_str(), mine.data()).integer() == 1, "semaphore: lost");
}

void hand_written::release_px_lock(const std::string& key, const token& mine) { release_lock(key.c_str(), mine); }

bool hand_written::ask_for_px(const char* key, const token& mine, int ttl_ms) {
    return !command("SET %s %s NX PX %d", key, mine.data(), ttl_ms).is_nil();
}

void hand_written::take_px(const char* key, const token& mine, int ttl_ms) {
    expect(ask_for_px(key, mine, ttl_ms), "SET NX: busy");
}

void hand_written::release_lock(const char* key, const token& mine) {
    expect(command("EVALSHA %s 1 %s %s", release_lock_sha_.c_str(), key, mine.data()).integer() == 1, "lock lost");
}

void hand_written::enter_fair(const std::string& name, const token& mine, int limit, int ttl_ms) {
    append("MULTI");
    append("ZREMRANGEBYSCORE %s -inf %s", name.c_str(), seconds_now(ttl_ms).data());
    append("ZINTERSTORE %s:owner 2 %s:owner %s WEIGHTS 1 0", name.c_str(), name.c_str(), name.c_str());
    append("INCR %s:counter", name.c_str());
    append("EXEC");
    const auto number = last_of(5).integer(2);
    append("MULTI");
    append("ZADD %s %s %s", name.c_str(), seconds_now().data(), mine.data());
    append("ZADD %s:owner %lld %s", name.c_str(), number, mine.data());
    append("ZRANK %s:owner %s", name.c_str(), mine.data());
    append("EXEC");
    expect(last_of(5).integer(2) < limit, "fair semaphore: full");
}

void hand_written::release_slot(const std::string& name, const token& mine) {
    expect(command("EVALSHA %s 2 %s %s:owner %s", release_slot_sha_.c_str(), name.c_str(), name.c_str(), mine.data())
                   .integer() == 1,
           "fair semaphore: slot lost");
}

}  // namespace tranca::bench
