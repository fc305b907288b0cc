// monitor_reader: every command a server runs, in its order, by MONITOR on a connection of its own.
//
//     monitor_reader monitor{server};
//     const auto mark = monitor.mark();
//     EXPECT_EQ(names(monitor.commands_since(mark)), (command_text{"EVALSHA", "GET"}));
//
// commands_since() first waits until everything run before the call was seen, so a test needs no pause. The kit's own
// marks are left out. The server reports what scripts call as well, marked `lua`; it never reports AUTH.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/raw_client.hpp"
#include "support/redis_server.hpp"
#include "support/socket.hpp"

namespace tranca::testing {

struct monitored_command {
    std::chrono::microseconds time{0};  // the server's wall clock
    int database{0};
    std::string client;                  // "127.0.0.1:50412", "unix:/path", "lua"
    std::vector<std::string> arguments;  // the name in upper case

    [[nodiscard]] bool lua() const { return client == "lua"; }
    [[nodiscard]] const std::string& name() const { return arguments.at(0); }
    [[nodiscard]] std::string text() const;  // arguments with blanks between
};

class monitor_reader {
public:
    using mark_type = std::size_t;

    explicit monitor_reader(redis_server& server);
    ~monitor_reader();
    monitor_reader(const monitor_reader&) = delete;
    monitor_reader& operator=(const monitor_reader&) = delete;

    void ignore(const raw_client& client);  // leaves out its commands, also past ones; needs a TCP connection

    [[nodiscard]] mark_type mark();  // now: everything run before stands in front of it
    [[nodiscard]] std::vector<monitored_command> commands_since(mark_type mark);
    [[nodiscard]] std::vector<monitored_command> commands() { return commands_since(0); }
    // Waits for a command at or behind `from` that satisfies `predicate`; seen already will do.
    [[nodiscard]] bool wait_for(const std::function<bool(const monitored_command&)>& predicate,
                                std::chrono::milliseconds limit, mark_type from = 0);

private:
    void read();
    void take(std::string_view line);
    void catch_up();
    [[nodiscard]] bool left_out(const monitored_command& command) const;

    std::mutex marking_;  // guards the two below
    raw_client marker_;
    std::size_t marks_sent_{0};
    unique_fd socket_;
    std::mutex mutex_;  // guards the rest
    std::condition_variable arrived_;
    std::vector<monitored_command> seen_;
    std::set<std::string> ignored_;
    std::size_t marks_seen_{0};
    bool ended_{false};
    std::thread thread_;
};

// The command names alone; those that scripts called are left out.
[[nodiscard]] std::vector<std::string> names(const std::vector<monitored_command>& commands);

// One line of MONITOR without its leading '+' and line end.
monitored_command parse_monitor_line(std::string_view line);

}  // namespace tranca::testing
