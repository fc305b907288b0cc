#include "support/monitor_reader.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "support/resp.hpp"
#include "support/signals.hpp"

namespace tranca::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view marker = "tranca-monitor-mark-";

std::string read_line(const unique_fd& socket) {
    std::string line;
    char byte = 0;
    while (true) {
        const ssize_t got = ::recv(socket.get(), &byte, 1, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            throw std::runtime_error{"MONITOR: the connection ended"};
        }
        if (byte == '\n') {
            return line;
        }
        line += byte;
    }
}

// Starts MONITOR on a new connection.
unique_fd begin_monitor(const address& where, const std::string& password) {
    unique_fd socket = connect_to(where);
    std::vector<command_text> words{{"CLIENT", "SETNAME", "tranca-test"}, {"MONITOR"}};
    if (!password.empty()) {
        words.insert(words.begin(), {"AUTH", password});
    }
    for (const auto& command : words) {
        send_all(socket, encode_command(command));
        if (const auto answer = read_line(socket); !answer.starts_with("+OK")) {
            throw std::runtime_error{command.at(0) + ": " + answer};
        }
    }
    return socket;
}

char unescaped(char c) {
    switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'a': return '\a';
    case 'b': return '\b';
    default: return c;
    }
}

// Takes one "quoted" argument from the front of `text`.
std::string take_quoted(std::string_view& text) {
    std::string result;
    text.remove_prefix(1);
    while (!text.empty() && text.front() != '"') {
        if (text.front() != '\\' || text.size() < 2) {
            result += text.front();
            text.remove_prefix(1);
        } else if (text[1] == 'x' && text.size() >= 4) {
            unsigned value = 0;
            std::from_chars(text.data() + 2, text.data() + 4, value, 16);
            result += static_cast<char>(value);
            text.remove_prefix(4);
        } else {
            result += unescaped(text[1]);
            text.remove_prefix(2);
        }
    }
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
    return result;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

bool is_mark(const monitored_command& command) {
    return command.arguments.size() == 2 && command.arguments[1].starts_with(marker);
}

}  // namespace

std::string monitored_command::text() const {
    std::string result;
    for (const auto& word : arguments) {
        (result += result.empty() ? "" : " ") += word;
    }
    return result;
}

// 1700000000.123456 [0 127.0.0.1:50412] "SET" "a" "b"
monitored_command parse_monitor_line(std::string_view line) {
    monitored_command command;
    std::int64_t seconds = 0;
    std::int64_t micros = 0;
    const auto dot = line.find('.');
    const auto open = line.find(" [");
    const auto close = line.find("] \"");
    if (dot == std::string_view::npos || open == std::string_view::npos || close == std::string_view::npos) {
        throw std::runtime_error{"not a line of MONITOR: " + std::string{line}};
    }
    std::from_chars(line.data(), line.data() + dot, seconds);
    std::from_chars(line.data() + dot + 1, line.data() + open, micros);
    command.time = std::chrono::seconds{seconds} + std::chrono::microseconds{micros};

    const std::string_view where = line.substr(open + 2, close - open - 2);
    const auto blank = where.find(' ');
    std::from_chars(where.data(), where.data() + blank, command.database);
    command.client = where.substr(blank + 1);

    std::string_view rest = line.substr(close + 2);
    while (!rest.empty() && rest.front() == '"') {
        command.arguments.push_back(take_quoted(rest));
        rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    }
    command.arguments.at(0) = upper(command.arguments.at(0));
    return command;
}

monitor_reader::monitor_reader(redis_server& server)
    : marker_{server.raw()}, socket_{begin_monitor(server.tcp(), server.password())} {
    const signals_blocked quiet;
    thread_ = std::thread{[this] { read(); }};
}

monitor_reader::~monitor_reader() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
}

void monitor_reader::read() {
    std::string bytes;
    std::array<char, 65'536> buffer;
    while (true) {
        const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        const std::lock_guard lock{mutex_};
        if (got <= 0) {
            ended_ = true;
            return arrived_.notify_all();
        }
        bytes.append(buffer.data(), static_cast<std::size_t>(got));
        std::size_t start = 0;
        for (auto end = bytes.find("\r\n"); end != std::string::npos; end = bytes.find("\r\n", start)) {
            take(std::string_view{bytes}.substr(start, end - start));
            start = end + 2;
        }
        bytes.erase(0, start);
        arrived_.notify_all();
    }
}

void monitor_reader::take(std::string_view line) {
    if (!line.starts_with('+') || line == "+OK") {
        return;
    }
    auto command = parse_monitor_line(line.substr(1));
    if (is_mark(command)) {
        ++marks_seen_;
    }
    seen_.push_back(std::move(command));
}

// A command of our own that comes out of the stream proves that all before it did. The server writes MONITOR's line
// before it answers, but on another connection.
void monitor_reader::catch_up() {
    const std::lock_guard one_at_a_time{marking_};
    const std::size_t number = ++marks_sent_;
    marker_.must({"ECHO", std::string{marker} + std::to_string(number)});
    std::unique_lock lock{mutex_};
    const bool there = arrived_.wait_for(lock, 10s, [&] { return marks_seen_ >= number || ended_; });
    if (!there || marks_seen_ < number) {
        throw std::runtime_error{"MONITOR: the stream has ended"};
    }
}

void monitor_reader::ignore(const raw_client& client) {
    const std::lock_guard lock{mutex_};
    ignored_.insert(client.local_address());
}

monitor_reader::mark_type monitor_reader::mark() {
    catch_up();
    const std::lock_guard lock{mutex_};
    return seen_.size();
}

bool monitor_reader::left_out(const monitored_command& command) const {
    return is_mark(command) || ignored_.contains(command.client);
}

std::vector<monitored_command> monitor_reader::commands_since(mark_type mark) {
    catch_up();
    const std::lock_guard lock{mutex_};
    std::vector<monitored_command> result;
    std::copy_if(seen_.begin() + static_cast<std::ptrdiff_t>(mark), seen_.end(), std::back_inserter(result),
                 [this](const auto& command) { return !left_out(command); });
    return result;
}

bool monitor_reader::wait_for(const std::function<bool(const monitored_command&)>& predicate,
                              std::chrono::milliseconds limit, mark_type from) {
    std::unique_lock lock{mutex_};
    return arrived_.wait_for(lock, limit, [&] {
        for (; from < seen_.size(); ++from) {
            if (!left_out(seen_[from]) && predicate(seen_[from])) {
                return true;
            }
        }
        return false;
    });
}

std::vector<std::string> names(const std::vector<monitored_command>& commands) {
    std::vector<std::string> result;
    for (const auto& command : commands) {
        if (!command.lua()) {
            result.push_back(command.name());
        }
    }
    return result;
}

}  // namespace tranca::testing
