#include "measure/holders.hpp"

#include <chrono>

#include <fmt/format.h>

#include <tranca/helper_key.hpp>

namespace tranca::bench {

void seat_holders(wire& redis, const std::string& name, int count) {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    for (int i = 1; i <= count; ++i) {
        const auto holder = fmt::format("{:032x}", i);
        redis.send("ZADD", name, fmt::format("{:.6f}", now.count()), holder);
        redis.send("ZADD", name + ":owner", i, holder);
        redis.next();
        redis.next();
    }
    redis.ask("SET", name + ":counter", count);
}

void seat_permit_holders(wire& redis, const std::string& main_key, int count) {
    const auto state = helper_key(main_key, "state");
    const auto over = std::chrono::duration_cast<std::chrono::milliseconds>(
                          (std::chrono::system_clock::now() + std::chrono::hours(24)).time_since_epoch())
                          .count();
    for (int i = 0; i < count; ++i) {
        const auto holder = fmt::format("{:032x}", i);
        redis.send("ZADD", main_key, over, holder);
        redis.send("HSET", state, holder, fmt::format("{}|{}|bench", i, i + 1));
        redis.next();
        redis.next();
    }
    // limit, used, fence, next, top, spare, lives, watch: see src/lua/semaphore_state.lua.
    redis.ask("HSET", state, "books",
              fmt::format("{} {} {} {} 0 - {} 0", count + 1, count, count, count, over + 60'000), "declared",
              count + 1);
    redis.ask("PEXPIREAT", main_key, over + 60'000);
    redis.ask("PEXPIREAT", state, over + 60'000);
}

}  // namespace tranca::bench
