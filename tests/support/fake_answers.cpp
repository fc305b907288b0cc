// The ways to answer of fake_server.hpp.
#include <algorithm>
#include <array>
#include <utility>

#include "support/fake_server.hpp"

namespace tranca::testing {

answering always(std::string bytes, ending then) {
    return [bytes = std::move(bytes), then](const seen_command&) { return fake_answer{.bytes = bytes, .then = then}; };
}

answering always_error(std::string_view text) { return always("-" + std::string{text} + "\r\n"); }

answering never_answering() { return always(""); }

answering garbage() {
    using namespace std::string_literals;
    return always("\x01\xff\x80 this is not Redis\r\n\0\r\n"s);
}

answering truncated_reply(ending then) { return always("$10\r\nhalf", then); }

answering closing(ending how) { return always("", how); }

answering nested_arrays(std::size_t depth) {
    std::string bytes;
    for (std::size_t level = 0; level < depth; ++level) {
        bytes += "*1\r\n";
    }
    return always(bytes + ":1\r\n");
}

answering huge_array(std::size_t items) {
    std::string bytes = "*" + std::to_string(items) + "\r\n";
    for (std::size_t i = 0; i < items; ++i) {
        bytes += ":7\r\n";
    }
    return always(std::move(bytes));
}

answering huge_bulk(std::size_t size) {
    return always("$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n");
}

answering bulk_header(std::string_view length) { return always("$" + std::string{length} + "\r\n"); }

answering after_handshake(answering rest) {
    return [rest = std::move(rest)](const seen_command& command) -> fake_answer {
        static const command_match greeting = named("HELLO|AUTH|SELECT|CLIENT|READONLY");
        static const command_match ping = named("PING");
        if (greeting(command)) {
            return {.bytes = "+OK\r\n"};
        }
        if (ping(command)) {
            return {.bytes = "+PONG\r\n"};
        }
        return rest(command);
    };
}

}  // namespace tranca::testing
