#pragma once

// A throw-away redis-server of our own: on a Unix socket in a private folder and on a free loopback port, keeping
// nothing on disk. Ended by its pid, the folder removed with it; it dies with the benchmark, however that ends.
//
//     private_server redis;
//     wire fast(redis.over_unix()), slow(redis.over_tcp());

#include <filesystem>

#include <tranca/endpoint.hpp>

#include "process/child.hpp"

namespace tranca::bench {

class private_server {
public:
    /// Starts it and waits until it answers. Throws std::runtime_error with the server's own words.
    private_server();
    ~private_server();
    private_server(const private_server&) = delete;
    private_server& operator=(const private_server&) = delete;

    [[nodiscard]] endpoint over_unix() const;
    [[nodiscard]] endpoint over_tcp() const;
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }
    /// False once it has gone: nobody but us should end it.
    [[nodiscard]] bool alive() { return !process_.ended(); }

private:
    void wait_until_it_answers();
    [[nodiscard]] std::string last_words() const;

    std::filesystem::path folder_;
    std::uint16_t port_;
    child process_;
};

}  // namespace tranca::bench
