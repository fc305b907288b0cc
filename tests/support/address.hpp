// address: where something listens, as TCP port or Unix socket.
//
//     const address local = address::tcp(6379);
//     local.url();                                   // "redis://127.0.0.1:6379"
//     address::unix_socket("/tmp/r.sock").url();     // "unix:///tmp/r.sock"
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace tranca::testing {

enum class transport { tcp, unix_socket };

struct address {
    transport kind{transport::tcp};
    std::string host{"127.0.0.1"};
    std::uint16_t port{0};
    std::string path;

    [[nodiscard]] static address tcp(std::uint16_t port, std::string host = "127.0.0.1") {
        return {.kind = transport::tcp, .host = std::move(host), .port = port, .path = {}};
    }

    [[nodiscard]] static address unix_socket(std::string path) {
        return {.kind = transport::unix_socket, .host = {}, .port = 0, .path = std::move(path)};
    }

    [[nodiscard]] std::string url() const {
        return kind == transport::tcp ? "redis://" + host + ":" + std::to_string(port) : "unix://" + path;
    }

    // For people: "127.0.0.1:6379" or the path.
    [[nodiscard]] std::string text() const { return kind == transport::tcp ? host + ":" + std::to_string(port) : path; }
};

}  // namespace tranca::testing
