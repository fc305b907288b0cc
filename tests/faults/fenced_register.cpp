#include "faults/fenced_register.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace tranca::faults_test {

namespace {

using testing::unique_fd;

// Whole messages: a client that is killed in the middle of one leaves nothing behind.
unique_fd message_socket() {
    unique_fd made{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    if (!made) throw std::system_error{errno, std::generic_category(), "socket"};
    return made;
}

sockaddr_un name_of(const std::filesystem::path& socket) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, socket.c_str(), sizeof name.sun_path - 1);
    return name;
}

std::string received(const unique_fd& from) {
    std::array<char, 4'096> text{};
    ssize_t got = 0;
    while ((got = ::recv(from.get(), text.data(), text.size(), 0)) < 0 && errno == EINTR) {
    }
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

bool sent(const unique_fd& to, const std::string& text) {
    return ::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

}  // namespace

fenced_register::fenced_register(const std::filesystem::path& socket, const std::filesystem::path& file,
                                 fencing_checks checks)
    : log_{file}, checks_{checks}, listener_{message_socket()} {
    const auto name = name_of(socket);
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
        ::listen(listener_.get(), 64) != 0)
        throw std::system_error{errno, std::generic_category(), socket.string()};
    thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
}

void fenced_register::serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
        for (const auto& client : clients_)
            watched.push_back({client.get(), POLLIN, 0});
        if (::poll(watched.data(), watched.size(), 20) <= 0) continue;
        std::vector<unique_fd> kept;
        for (std::size_t i = 1; i < watched.size(); ++i)
            if (watched[i].revents == 0 || answer(clients_[i - 1])) kept.push_back(std::move(clients_[i - 1]));
        if (watched[0].revents != 0)
            if (unique_fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)})
                kept.push_back(std::move(client));
        clients_ = std::move(kept);
    }
}

bool fenced_register::refuses(const record& asked, const cell& kept) const {
    const bool is_checked =
        checks_ == fencing_checks::reads_and_writes || (checks_ == fencing_checks::writes && asked.mode == "write");
    return is_checked && asked.fence < kept.fence;
}

bool fenced_register::answer(const unique_fd& client) {
    const auto text = received(client);
    if (text.empty()) return false;
    auto asked = from_line(text);
    auto& kept = cells_[{asked.lock, asked.slots.empty() ? -1 : asked.slots.front()}];
    asked.time = now();
    asked.phase = refuses(asked, kept) ? phase::failed : phase::ok;
    if (asked.phase == phase::ok) {
        kept.fence = std::max(kept.fence, asked.fence);
        if (asked.mode == "write") kept.value = asked.value;
        asked.value = kept.value;
    }
    log_.write(asked);
    return sent(client, asked.phase == phase::ok ? std::to_string(kept.value) : "refused");
}

register_client::register_client(const std::filesystem::path& socket) : socket_{message_socket()} {
    const auto name = name_of(socket);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        throw std::system_error{errno, std::generic_category(), socket.string()};
}

std::optional<std::int64_t> register_client::access(const record& what) const {
    if (!sent(socket_, to_line(what))) throw std::system_error{errno, std::generic_category(), "register"};
    const auto text = received(socket_);
    if (text.empty()) throw std::runtime_error{"the register has gone"};
    return text == "refused" ? std::nullopt : std::optional{std::stoll(text)};
}

}  // namespace tranca::faults_test
