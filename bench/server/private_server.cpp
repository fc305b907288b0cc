#include "server/private_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "raw/wire.hpp"

namespace tranca::bench {
namespace {

using namespace std::chrono_literals;

std::filesystem::path private_folder() {
    auto name = (std::filesystem::temp_directory_path() / "tranca-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
    return name;
}

// Asks the system for a port and gives it back: the server binds it a moment later.
std::uint16_t free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool bound = ::bind(probe, generic, size) == 0 && ::getsockname(probe, generic, &size) == 0;
    ::close(probe);
    if (!bound) throw std::system_error(errno, std::generic_category(), "no free loopback port");
    return ntohs(address.sin_port);
}

int become_server(const std::filesystem::path& folder, std::uint16_t port) {
    ::setpgid(0, 0);  // out of the terminal's group: Ctrl-C must reach the benchmark, not its server
    const auto socket = (folder / "redis.sock").string();
    const auto log = (folder / "redis.log").string();
    const auto dir = folder.string();
    const auto number = std::to_string(port);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execlp("redis-server", "redis-server", "--bind", "127.0.0.1", "--port", number.c_str(), "--unixsocket",
             socket.c_str(), "--save", "", "--appendonly", "no", "--dir", dir.c_str(), "--daemonize", "no",
             static_cast<char*>(nullptr));
    const std::error_code why(errno, std::generic_category());
    throw std::runtime_error("cannot start redis-server: " + why.message());
}

}  // namespace

private_server::private_server()
    : folder_(private_folder()),
      port_(free_port()),
      process_(child::fork([this] { return become_server(folder_, port_); })) {
    try {
        wait_until_it_answers();
    } catch (...) {
        std::filesystem::remove_all(folder_);
        throw;
    }
}

private_server::~private_server() {
    process_.send(SIGTERM);
    if (!process_.wait_for(5s)) process_.send(SIGKILL);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

endpoint private_server::over_unix() const {
    endpoint where;
    where.kind = endpoint::transport::unix_socket;
    where.path = (folder_ / "redis.sock").string();
    return where;
}

endpoint private_server::over_tcp() const {
    endpoint where;
    where.port = port_;
    return where;
}

void private_server::wait_until_it_answers() {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    for (;;) {
        try {
            wire(over_tcp()).ask("PING");
            wire(over_unix()).ask("PING");
            return;
        } catch (const std::runtime_error& not_yet) {
            if (process_.ended()) throw std::runtime_error("redis-server ended at once: " + last_words());
            if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(not_yet);
        }
        std::this_thread::sleep_for(5ms);
    }
}

std::string private_server::last_words() const {
    std::ifstream log(folder_ / "redis.log");
    std::string line, last;
    while (std::getline(log, line))
        last = line;
    return last.empty() ? process_.ending() : last;
}

}  // namespace tranca::bench
