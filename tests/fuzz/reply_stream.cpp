// Replies off a socket: as many as the bytes hold, the same however the bytes are cut, and an end in time.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "reply_stream.hpp"

namespace tranca::fuzz {
namespace {

using namespace std::chrono_literals;

// Listens on a Unix socket; what it accepts sends what it is told to.
class peer {
public:
    peer() : path_("/tmp/tranca-fuzz-" + std::to_string(::getpid())) {
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        std::memcpy(name.sun_path, path_.c_str(), path_.size() + 1);
        ::unlink(path_.c_str());
        listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
        require(::bind(listener_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0, "bind");
        require(::listen(listener_, 4) == 0, "listen");
        where_.kind = endpoint::transport::unix_socket;
        where_.path = path_;
    }
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;
    ~peer() {
        ::close(listener_);
        ::unlink(path_.c_str());
    }

    [[nodiscard]] const endpoint& where() const noexcept { return where_; }
    [[nodiscard]] int accept() const { return ::accept(listener_, nullptr, nullptr); }

private:
    std::string path_;
    int listener_{-1};
    endpoint where_;
};

void send_all(int line, std::string_view bytes) {
    if (!bytes.empty()) require(::send(line, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0, "send");
}

// The kinds of all replies, then why there is no more. `cut`: the first part comes alone.
std::string replies_to(std::string_view bytes, std::size_t cut) {
    static const peer server;
    const auto deadline = clock::now() + 5s;
    reply_stream stream{server.where(), deadline};
    const int line = server.accept();
    std::string told;
    send_all(line, bytes.substr(0, cut));
    const auto hear = [&](clock::time_point until) {
        for (;;) {
            const auto next = stream.receive(until, false);
            if (const auto* const failure = std::get_if<stream_failure>(&next)) return failure->code;
            told += std::to_string(static_cast<int>(std::get<reply>(next).what()));
        }
    };
    auto end = errc::timeout;
    if (cut < bytes.size()) end = hear(clock::now());
    if (end == errc::timeout) {
        send_all(line, bytes.substr(cut));
        ::shutdown(line, SHUT_WR);
        end = hear(deadline);
    }
    ::close(line);
    require(end == errc::protocol || end == errc::connection_lost, "a stream that was closed did not end");
    return told + (end == errc::protocol ? "!" : "");
}

}  // namespace
}  // namespace tranca::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tranca::fuzz;
    const auto bytes = text_of(data, size).substr(0, 16'384);
    const auto whole = replies_to(bytes, bytes.size());
    if (!bytes.empty())
        require(replies_to(bytes, static_cast<unsigned char>(bytes.back()) % bytes.size()) == whole,
                "replies depend on how their bytes are cut");
    return 0;
}
