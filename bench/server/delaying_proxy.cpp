#include "server/delaying_proxy.hpp"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <list>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "process/interrupt.hpp"

namespace tranca::bench {
namespace {

using steady = std::chrono::steady_clock;

// A piece that is on its way; an empty one is the end of the stream.
struct piece {
    steady::time_point due;
    std::string bytes;
};

// One direction of a connection.
struct lane {
    int from;
    int to;
    std::deque<piece> on_the_way{};
    bool ended = false;  // nothing more comes in
    bool shut = false;   // and everything has left
};

struct link {
    std::array<lane, 2> lanes;
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

int listen_on_loopback(std::uint16_t& port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    constexpr int backlog = 512;
    if (listener < 0 || ::bind(listener, generic, size) != 0 || ::listen(listener, backlog) != 0 ||
        ::getsockname(listener, generic, &size) != 0)
        fail("the delaying proxy cannot listen");
    port = ntohs(address.sin_port);
    return listener;
}

// hiredis finds the server as it does for everybody else; only its socket is kept.
int connect_to(const endpoint& server) {
    auto* context = server.kind == endpoint::transport::unix_socket ? redisConnectUnix(server.path.c_str())
                                                                    : redisConnect(server.host.c_str(), server.port);
    if (context == nullptr || context->err != 0) throw std::runtime_error("the delaying proxy finds no server");
    return redisFreeKeepFd(context);
}

class forwarder {
public:
    forwarder(int listener, endpoint server, std::chrono::microseconds each_way)
        : listener_(listener), server_(std::move(server)), each_way_(each_way) {}

    [[noreturn]] void run() {
        for (;;) {
            wait();
            for (auto& one : links_) {
                for (auto& way : one.lanes) {
                    if (happened(way.from)) take_in(way);
                    send_due(way);
                }
            }
            if (happened(listener_)) accept_one();
            drop_ended();
        }
    }

private:
    void wait() {
        watched_ = {{listener_, POLLIN, 0}};
        auto wake = steady::time_point::max();
        for (const auto& one : links_) {
            for (const auto& way : one.lanes) {
                if (!way.ended) watched_.push_back({way.from, POLLIN, 0});
                if (!way.on_the_way.empty()) wake = std::min(wake, way.on_the_way.front().due);
            }
        }
        const auto left = std::max(wake - steady::now(), steady::duration::zero());
        const auto whole = std::chrono::floor<std::chrono::seconds>(left);
        const timespec limit{whole.count(), std::chrono::nanoseconds(left - whole).count()};
        if (::ppoll(watched_.data(), watched_.size(), wake == steady::time_point::max() ? nullptr : &limit, nullptr) <
                0 &&
            errno != EINTR)
            fail("the delaying proxy cannot wait");
    }

    [[nodiscard]] bool happened(int fd) const {
        return std::any_of(watched_.begin(), watched_.end(),
                           [fd](const pollfd& one) { return one.fd == fd && one.revents != 0; });
    }

    void accept_one() {
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) return;
        const int server = connect_to(server_);
        const int yes = 1;
        for (const int end : {client, server})
            ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // in vain on a Unix socket
        links_.push_back({{lane{.from = client, .to = server}, lane{.from = server, .to = client}}});
    }

    void take_in(lane& way) const {
        std::array<char, 16'384> room{};
        const auto size = way.ended ? -1 : ::recv(way.from, room.data(), room.size(), MSG_DONTWAIT);
        if (way.ended || (size < 0 && (errno == EAGAIN || errno == EINTR))) return;
        way.ended = size <= 0;
        const auto length = static_cast<std::size_t>(std::max<ssize_t>(size, 0));
        way.on_the_way.push_back({steady::now() + each_way_, std::string(room.data(), length)});
    }

    static void send_due(lane& way) {
        while (!way.on_the_way.empty() && way.on_the_way.front().due <= steady::now()) {
            const auto bytes = std::move(way.on_the_way.front().bytes);
            way.on_the_way.pop_front();
            if (!bytes.empty() && send_all(way.to, bytes)) continue;
            ::shutdown(way.to, SHUT_WR);
            way.shut = way.ended = true;
            way.on_the_way.clear();
        }
    }

    // May block: what goes through here is small, and the reader on the other side reads it all.
    static bool send_all(int to, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    void drop_ended() {
        std::erase_if(links_, [](const link& one) {
            if (!one.lanes[0].shut || !one.lanes[1].shut) return false;
            ::close(one.lanes[0].from);
            ::close(one.lanes[0].to);
            return true;
        });
    }

    int listener_;
    endpoint server_;
    std::chrono::microseconds each_way_;
    std::list<link> links_;
    std::vector<pollfd> watched_;
};

}  // namespace

delaying_proxy::delaying_proxy(const endpoint& server, std::chrono::microseconds each_way) : where_(server) {
    where_.kind = endpoint::transport::tcp;
    where_.host = "127.0.0.1";
    const int listener = listen_on_loopback(where_.port);
    process_.emplace(child::fork([=]() -> int {
        interrupt::ignore_in_child();
        ::prctl(PR_SET_TIMERSLACK, 1UL);  // or the kernel may add 50 us to each delay
        forwarder(listener, server, each_way).run();
    }));
    ::close(listener);  // it is the child's now
}

}  // namespace tranca::bench
