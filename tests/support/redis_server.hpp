// redis_server: a private redis-server process with a Unix socket and a loopback port of its own.
//
//     redis_server server;                                    // or {{.password = "secret"}}
//     tranca::client redis{server.url()};
//     server.freeze();
//
// Ready when the constructor returns; ended by pid in the destructor, and by the kernel when the test process dies. Its
// directory is removed; its log is kept, and the path printed, when a test has failed. The program is `redis-server` in
// PATH or what TRANCA_TEST_SERVER names. Without persistence unless `arguments` says otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/address.hpp"
#include "support/process.hpp"
#include "support/raw_client.hpp"
#include "support/temporary_directory.hpp"
#include "support/tls_certificates.hpp"

namespace tranca::testing {

struct redis_server_options {
    std::vector<std::string> arguments{};  // {"--appendonly", "yes"}
    std::string password{};                // --requirepass
    const tls_certificates* tls{nullptr};  // opens a TLS port too; must outlive the server
    bool tls_client_certificate{false};    // that port insists on a client certificate
    std::chrono::milliseconds start_limit{10'000};
};

enum class readiness { serves, answers };  // answers: -LOADING will do

class redis_server {
public:
    using options = redis_server_options;

    explicit redis_server(options settings = {});
    ~redis_server();
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    // Where it is. A password set at the start is part of the URLs.
    [[nodiscard]] std::string url(int database = 0) const;  // redis://127.0.0.1:PORT[/DB]
    [[nodiscard]] std::string url_as(std::string_view user, std::string_view password) const;
    [[nodiscard]] std::string unix_url(int database = 0) const;  // unix:///.../redis.sock[?db=DB]
    [[nodiscard]] std::string tls_url() const;                   // rediss://127.0.0.1:PORT
    [[nodiscard]] std::string ipv6_url() const;                  // redis://[::1]:PORT
    [[nodiscard]] address tcp() const { return address::tcp(port_); }
    [[nodiscard]] address unix_socket() const;
    [[nodiscard]] address tls() const { return address::tcp(tls_port_); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] const std::string& password() const { return settings_.password; }
    [[nodiscard]] bool has_ipv6() const;  // this machine may have none

    // The process. start_again() takes the same port and directory; `more` arguments count for this run only.
    void freeze() { process_.freeze(); }
    void resume() { process_.resume(); }
    void kill_hard();
    void stop();
    void start_again(const std::vector<std::string>& more = {}, readiness until = readiness::serves);
    void restart() { kill_hard(), start_again(); }
    [[nodiscard]] bool running() { return process_.running(); }
    [[nodiscard]] pid_t pid() const { return process_.pid(); }
    [[nodiscard]] std::filesystem::path directory() const { return home_.path(); }
    [[nodiscard]] std::string log() const;

    // The server's own control connection: thread-safe, over the Unix socket, made anew when it broke.
    redis_value command(const command_text& words);
    redis_value must(const command_text& words);
    [[nodiscard]] raw_client raw() const;            // a new direct connection over TCP, logged in
    [[nodiscard]] std::string version();             // "7.0.15"
    std::int64_t foreign_connections();              // connections that are not the kit's: the library's
    void set_password(const std::string& password);  // CONFIG SET requirepass, and of the URLs; empty: none
    void clear();                                    // no keys, no scripts, counters at zero, running, not paused

private:
    void take_ports();
    bool launch(const std::vector<std::string>& more, readiness until);  // false: a port is taken
    [[nodiscard]] std::vector<std::string> command_line(const std::vector<std::string>& more) const;
    [[nodiscard]] bool ready(readiness until) const;
    [[nodiscard]] std::string authority() const;
    void keep_log() const noexcept;

    options settings_;
    temporary_directory home_;
    std::uint16_t port_{0};
    std::uint16_t tls_port_{0};
    process process_;
    std::mutex control_mutex_;
    std::optional<raw_client> control_;
};

// One server for the whole test binary, started at its first use.
redis_server& shared_server();

// The same, emptied: no keys, no scripts, counters at zero, running.
redis_server& fresh();

}  // namespace tranca::testing
