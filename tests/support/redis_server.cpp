#include "support/redis_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "support/deadline.hpp"
#include "support/socket.hpp"

namespace tranca::testing {
namespace {

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
            result += c;
        } else {
            (result += '%') += digits[byte >> 4U];
            result += digits[byte & 15U];
        }
    }
    return result;
}

std::string program() {
    const char* const chosen = std::getenv("TRANCA_TEST_SERVER");
    return chosen != nullptr && *chosen != '\0' ? chosen : "redis-server";
}

std::filesystem::path log_shelf() {
    const char* const chosen = std::getenv("TRANCA_TEST_LOGS");
    return chosen != nullptr && *chosen != '\0' ? std::filesystem::path{chosen}
                                                : std::filesystem::temp_directory_path() / "tranca-test-logs";
}

// The first line a server says to PING, empty when it says nothing.
std::string greeting(const address& where) {
    try {
        const unique_fd link = connect_to(where);
        send_all(link, "PING\r\n");
        const timeval limit{.tv_sec = 5, .tv_usec = 0};
        ::setsockopt(link.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        std::array<char, 256> buffer{};
        const ssize_t got = ::recv(link.get(), buffer.data(), buffer.size(), 0);
        return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
    } catch (const std::system_error&) {
        return {};
    }
}

}  // namespace

redis_server::redis_server(options settings) : settings_{std::move(settings)} {
    for (int attempt = 0; attempt < 20; ++attempt) {
        take_ports();
        if (launch({}, readiness::serves)) {
            return;
        }
        std::filesystem::remove(home_ / "redis.log");
    }
    throw std::runtime_error{"redis-server finds every port taken"};
}

redis_server::~redis_server() {
    process_ = {};  // what it might still have to save goes with its directory
    keep_log();
}

void redis_server::take_ports() {
    port_ = free_port();
    tls_port_ = settings_.tls == nullptr ? std::uint16_t{0} : free_port();
}

std::vector<std::string> redis_server::command_line(const std::vector<std::string>& more) const {
    std::vector<std::string> words{
        program(),          "--port", std::to_string(port_), "--bind", "127.0.0.1", "-::1",         "--unixsocket",
        unix_socket().path, "--dir",  home_.path(),          "--save", "",          "--appendonly", "no",
        "--daemonize",      "no",     "--loglevel",          "notice"};
    const auto add = [&words](const std::vector<std::string>& extra) {
        words.insert(words.end(), extra.begin(), extra.end());
    };
    if (settings_.tls != nullptr) {
        add({"--tls-port", std::to_string(tls_port_), "--tls-ca-cert-file", settings_.tls->ca(), "--tls-cert-file",
             settings_.tls->server_certificate(), "--tls-key-file", settings_.tls->server_key(), "--tls-auth-clients",
             settings_.tls_client_certificate ? "yes" : "no"});
    }
    if (!settings_.password.empty()) {
        add({"--requirepass", settings_.password});
    }
    add(settings_.arguments);
    add(more);
    return words;
}

bool redis_server::launch(const std::vector<std::string>& more, readiness until) {
    process_ = process::start(command_line(more), {.output = home_ / "redis.log", .directory = home_.path()});
    const bool settled = eventually(settings_.start_limit, [&] { return ready(until) || !process_.running(); });
    if (settled && process_.running()) {
        return true;
    }
    const std::string said = log();
    process_.kill_hard();
    if (said.find("ddress already in use") != std::string::npos) {
        return false;
    }
    throw std::runtime_error{"redis-server did not start; its log:\n" + said};
}

bool redis_server::ready(readiness until) const {
    const auto said = greeting(unix_socket());
    return !said.empty() && (until == readiness::answers || !said.starts_with("-LOADING"));
}

void redis_server::kill_hard() { process_.kill_hard(); }

void redis_server::stop() { process_.end(); }

void redis_server::start_again(const std::vector<std::string>& more, readiness until) {
    process_.kill_hard();
    if (!launch(more, until)) {
        throw std::runtime_error{"port " + std::to_string(port_) + " was taken meanwhile"};
    }
}

std::string redis_server::authority() const {
    return settings_.password.empty() ? "" : ":" + percent_encoded(settings_.password) + "@";
}

std::string redis_server::url(int database) const {
    return "redis://" + authority() + tcp().text() + (database == 0 ? "" : "/" + std::to_string(database));
}

std::string redis_server::url_as(std::string_view user, std::string_view password) const {
    return "redis://" + percent_encoded(user) + ":" + percent_encoded(password) + "@" + tcp().text();
}

std::string redis_server::unix_url(int database) const {
    return "unix://" + authority() + unix_socket().path + (database == 0 ? "" : "?db=" + std::to_string(database));
}

std::string redis_server::tls_url() const {
    if (settings_.tls == nullptr) {
        throw std::logic_error{"this redis_server has no TLS port"};
    }
    return "rediss://" + authority() + tls().text();
}

std::string redis_server::ipv6_url() const { return "redis://" + authority() + "[::1]:" + std::to_string(port_); }

bool redis_server::has_ipv6() const { return !greeting(address::tcp(port_, "::1")).empty(); }

address redis_server::unix_socket() const { return address::unix_socket(home_ / "redis.sock"); }

std::string redis_server::log() const {
    std::ostringstream text;
    text << std::ifstream{home_ / "redis.log"}.rdbuf();
    return text.str();
}

redis_value redis_server::command(const command_text& words) {
    const std::lock_guard lock{control_mutex_};
    try {
        if (!control_) {
            control_.emplace(unix_socket(), raw_options{.password = settings_.password});
        }
        return control_->command(words);
    } catch (const raw_error&) {
        control_.reset();  // its next reply would be that to an earlier command
        throw;
    }
}

redis_value redis_server::must(const command_text& words) {
    auto answer = command(words);
    if (answer.is_error()) {
        throw raw_error{words.at(0) + ": " + answer.text};
    }
    return answer;
}

raw_client redis_server::raw() const { return raw_client{tcp(), {.password = settings_.password}}; }

std::string redis_server::version() {
    const std::string info = must({"INFO", "SERVER"}).text;
    constexpr std::string_view label = "redis_version:";
    const auto start = info.find(label) + label.size();
    return info.substr(start, info.find('\r', start) - start);
}

std::int64_t redis_server::foreign_connections() {
    std::istringstream lines{must({"CLIENT", "LIST"}).text};
    std::int64_t count = 0;
    for (std::string line; std::getline(lines, line);) {
        count += line.find(" name=tranca-test ") == std::string::npos ? 1 : 0;
    }
    return count;
}

void redis_server::set_password(const std::string& password) {
    must({"CONFIG", "SET", "requirepass", password});
    settings_.password = password;
    const std::lock_guard lock{control_mutex_};
    control_.reset();  // the next one logs in with the new password
}

void redis_server::clear() {
    process_.resume();
    if (!process_.running()) {
        start_again();
    }
    must({"CLIENT", "UNPAUSE"});
    must({"FLUSHALL"});
    must({"SCRIPT", "FLUSH"});
    must({"CONFIG", "RESETSTAT"});
}

void redis_server::keep_log() const noexcept {
    const auto& tests = *::testing::UnitTest::GetInstance();
    const bool wanted =
        tests.current_test_info() == nullptr ? tests.Failed() : tests.current_test_info()->result()->Failed();
    try {
        if (!wanted || !std::filesystem::exists(home_ / "redis.log")) {
            return;
        }
        const auto name = "redis-" + std::to_string(::getpid()) + "-" + std::to_string(port_) + ".log";
        std::filesystem::create_directories(log_shelf());
        std::filesystem::copy_file(home_ / "redis.log", log_shelf() / name,
                                   std::filesystem::copy_options::overwrite_existing);
        std::cerr << "log of the redis-server: " << (log_shelf() / name).string() << '\n';
    } catch (const std::exception& error) {
        std::cerr << "a server log could not be kept: " << error.what() << '\n';
    }
}

redis_server& shared_server() {
    static redis_server server;
    return server;
}

redis_server& fresh() {
    shared_server().clear();
    return shared_server();
}

}  // namespace tranca::testing
