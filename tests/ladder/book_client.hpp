// book_client: the other side of mixed use - a plain client that speaks the commands of Redis in Action, chapter 6.
//
//     book_client book{server.raw()};
//     const auto mine = book.acquire_lock("market:");          // listing 6.8, one try
//     EXPECT_FALSE(naive_lock(redis, "market:").try_acquire());
//     EXPECT_TRUE(book.release_lock("market:", mine));         // listing 6.10
//
// Own code after the text of the book; every acquire is one try and answers the owner's name, or nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "support/raw_client.hpp"

namespace tranca::ladder_test {

using testing::command_text;
using testing::raw_client;
using testing::redis_value;

class book_client {
public:
    explicit book_client(raw_client redis) : redis_{std::move(redis)} {}

    // 6.8 and 6.10: a lock without a time.
    [[nodiscard]] std::string acquire_lock(const std::string& name) {
        const auto mine = fresh_name();
        return redis_.must({"SETNX", "lock:" + name, mine}) == 1 ? mine : "";
    }
    bool release_lock(const std::string& name, const std::string& mine) {
        const auto key = "lock:" + name;
        redis_.must({"WATCH", key});
        if (redis_.get(key) != mine) {
            redis_.must({"UNWATCH"});
            return false;
        }
        return !transaction({{"DEL", key}}).is_nil();
    }

    // 6.11: a lock with a time in whole seconds, set by a second command.
    [[nodiscard]] std::string acquire_lock_with_timeout(const std::string& name, int seconds) {
        const auto mine = fresh_name();
        const auto key = "lock:" + name;
        if (redis_.must({"SETNX", key, mine}) == 1) {
            redis_.must({"EXPIRE", key, std::to_string(seconds)});
            return mine;
        }
        if (redis_.must({"TTL", key}).integer < 0) redis_.must({"EXPIRE", key, std::to_string(seconds)});
        return "";
    }

    // The recipe of SET's own documentation.
    [[nodiscard]] std::string set_nx_px(const std::string& key, int milliseconds) {
        const auto mine = fresh_name();
        return redis_.must({"SET", key, mine, "NX", "PX", std::to_string(milliseconds)}).is_nil() ? "" : mine;
    }

    // 6.12 and 6.13: ranked by the clients' clocks.
    [[nodiscard]] std::string acquire_semaphore(const std::string& name, int limit, double timeout) {
        const auto mine = fresh_name();
        const auto results = transaction({{"ZREMRANGEBYSCORE", name, "-inf", number(now() - timeout)},
                                          {"ZADD", name, number(now()), mine},
                                          {"ZRANK", name, mine}});
        if (results[2].integer < limit) return mine;
        redis_.must({"ZREM", name, mine});
        return "";
    }
    bool release_semaphore(const std::string& name, const std::string& mine) {
        return redis_.must({"ZREM", name, mine}) == 1;
    }

    // 6.14 to 6.16: ordered by a counter.
    [[nodiscard]] std::string acquire_fair_semaphore(const std::string& name, int limit, double timeout) {
        const auto mine = fresh_name();
        const auto order = name + ":owner";
        const auto first = transaction({{"ZREMRANGEBYSCORE", name, "-inf", number(now() - timeout)},
                                        {"ZINTERSTORE", order, "2", order, name, "WEIGHTS", "1", "0"},
                                        {"INCR", name + ":counter"}});
        const auto ranked = transaction({{"ZADD", name, number(now()), mine},
                                         {"ZADD", order, std::to_string(first[2].integer), mine},
                                         {"ZRANK", order, mine}});
        if (ranked[2].integer < limit) return mine;
        static_cast<void>(release_fair_semaphore(name, mine));
        return "";
    }
    bool release_fair_semaphore(const std::string& name, const std::string& mine) {
        return transaction({{"ZREM", name, mine}, {"ZREM", name + ":owner", mine}})[0] == 1;
    }
    bool refresh_fair_semaphore(const std::string& name, const std::string& mine) {
        if (redis_.must({"ZADD", name, number(now()), mine}) == 0) return true;
        static_cast<void>(release_fair_semaphore(name, mine));
        return false;
    }

    // 6.17: the same under a lock of the semaphore's own name.
    [[nodiscard]] std::string acquire_semaphore_with_lock(const std::string& name, int limit, double timeout) {
        const auto entrance = acquire_lock(name);
        if (entrance.empty()) return "";
        auto mine = acquire_fair_semaphore(name, limit, timeout);
        release_lock(name, entrance);
        return mine;
    }

private:
    [[nodiscard]] std::string fresh_name() { return "book-" + std::to_string(++names_); }
    [[nodiscard]] static double now() {
        return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
    }
    [[nodiscard]] static std::string number(double value) { return std::to_string(value); }

    redis_value transaction(const std::vector<command_text>& commands) {
        redis_.must({"MULTI"});
        for (const auto& command : commands)
            redis_.must(command);
        return redis_.must({"EXEC"});
    }

    raw_client redis_;
    std::uint64_t names_{0};
};

}  // namespace tranca::ladder_test
