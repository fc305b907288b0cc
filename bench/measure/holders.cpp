#include "measure/holders.hpp"

#include <chrono>

#include <fmt/format.h>

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

}  // namespace tranca::bench
