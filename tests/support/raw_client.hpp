// raw_client: the test's own direct connection to a server, by plain hiredis.
//
//     raw_client raw{server.tcp()};
//     raw.set("lock:a", "foreign");
//     EXPECT_EQ(raw.command({"GET", "lock:a"}), "foreign");
//
// A transport error throws raw_error, an error reply is a value; the helpers below `command` throw on both. A
// connection that the server has closed meanwhile is made anew before a command. One thread at a time. Neither SIGPIPE
// nor another signal disturbs it. Named "tranca-test", so that the kit can tell its own connections from the library's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/address.hpp"
#include "support/redis_value.hpp"

struct redisContext;

namespace tranca::testing {

using command_text = std::vector<std::string>;

class raw_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct raw_options {
    std::string user{};
    std::string password{};
    int database{0};
    std::chrono::milliseconds timeout{10'000};
    std::string name{"tranca-test"};  // empty: sends no CLIENT SETNAME
};

class raw_client {
public:
    using options = raw_options;

    explicit raw_client(address server, options settings = {});
    raw_client(raw_client&&) noexcept;
    raw_client& operator=(raw_client&&) noexcept;
    ~raw_client();

    redis_value command(const command_text& words);  // one round trip
    redis_value must(const command_text& words);     // the same; an error reply throws raw_error
    void send(const command_text& words);            // writes only: for commands that block
    redis_value receive();                           // the next reply
    void reconnect();

    std::optional<std::string> get(std::string_view key);
    void set(std::string_view key, std::string_view value);
    void set(std::string_view key, std::string_view value, std::chrono::milliseconds ttl);
    std::int64_t del(std::string_view key);
    std::int64_t exists(std::string_view key);
    std::int64_t pttl(std::string_view key);                        // -1: no expiry, -2: no key
    std::vector<std::string> keys(std::string_view pattern = "*");  // sorted
    std::int64_t dbsize();
    void flush();  // FLUSHALL

    std::string config_get(std::string_view name);
    void config_set(std::string_view name, std::string_view value);

    std::string info(std::string_view field);  // of any section, empty when absent: info("role")
    std::int64_t calls(
        std::string_view command);  // of commandstats: calls("set"), calls("client|unblock"); 0 when never
    std::int64_t calls();           // of all commands together, the kit's own included
    std::int64_t connected_clients();
    std::int64_t connections_received();
    void reset_stats();

    [[nodiscard]] std::string local_address()
        const;          // as MONITOR and CLIENT LIST show this connection: "127.0.0.1:54321"
    std::int64_t id();  // CLIENT ID

private:
    struct closer {
        void operator()(redisContext* context) const noexcept;
    };

    void introduce();
    void transmit(const command_text& words);
    [[nodiscard]] bool stale() const;

    address server_;
    options settings_;
    std::unique_ptr<redisContext, closer> context_;
    std::size_t awaited_{0};  // replies still to come
};

}  // namespace tranca::testing
