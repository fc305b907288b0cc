#include "support/fake_server.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <list>
#include <utility>

#include "support/poll_thread.hpp"
#include "support/resp.hpp"
#include "support/temporary_directory.hpp"

namespace tranca::testing {
namespace {

struct due_answer {
    fake_answer what;
    steady::time_point due;
};

struct visitor {
    std::size_t number;
    unique_fd link;
    std::string received{};
    std::deque<due_answer> answers{};
    std::string outgoing{};
    bool full{false};
};

}  // namespace

class fake_server::machine {
public:
    machine(answering to_commands, std::optional<fake_answer> on_accept, transport listen)
        : answer{std::move(to_commands)},
          first_{std::move(on_accept)},
          where{listen == transport::tcp ? address::tcp(free_port()) : address::unix_socket(home_ / "fake.sock")},
          listener_{listen_on(where)},
          thread_{[this](auto& watched) { return prepare(watched); },
                  [this](const auto& watched) { handle(watched); }} {}

    answering answer;
    std::vector<seen_command> commands;
    std::size_t connections_seen{0};
    [[nodiscard]] std::size_t connections_open() const { return visitors_.size(); }

    template <typename Job>
    auto run(Job job) {
        return thread_.run(std::move(job));
    }

private:
    steady::time_point prepare(std::vector<pollfd>& watched);
    void handle(const std::vector<pollfd>& watched);
    void accept_all();
    void receive(visitor& guest);
    void take_commands(visitor& guest);
    void speak(visitor& guest);
    [[nodiscard]] bool flush(visitor& guest);

    std::optional<fake_answer> first_;
    temporary_directory home_;

public:
    const address where;

private:
    unique_fd listener_;
    std::list<visitor> visitors_;
    poll_thread thread_;  // the last member: it uses all the others
};

steady::time_point fake_server::machine::prepare(std::vector<pollfd>& watched) {
    auto wake = steady::time_point::max();
    watched.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
    for (const auto& guest : visitors_) {
        const short writing = guest.full ? POLLOUT : 0;
        watched.push_back({guest.link.get(), static_cast<short>(POLLIN | writing), 0});
        if (!guest.answers.empty() && !guest.full) {
            wake = std::min(wake, guest.answers.front().due);
        }
    }
    return wake;
}

void fake_server::machine::handle(const std::vector<pollfd>& watched) {
    for (auto& guest : visitors_) {
        const auto entry = std::ranges::find(watched, guest.link.get(), &pollfd::fd);
        if (entry != watched.end() && (entry->revents & ~POLLOUT) != 0) {
            receive(guest);
        }
        guest.full = false;
        if (guest.link) {
            speak(guest);
        }
    }
    accept_all();
    visitors_.remove_if([](const visitor& guest) { return !guest.link; });
}

void fake_server::machine::accept_all() {
    while (unique_fd link = accept_from(listener_)) {
        set_nonblocking(link);
        visitors_.push_back({++connections_seen, std::move(link)});
        if (first_) {
            visitors_.back().answers.push_back({*first_, steady::now() + first_->after});
            speak(visitors_.back());
        }
    }
}

void fake_server::machine::receive(visitor& guest) {
    std::string buffer(65'536, '\0');
    const ssize_t got = ::recv(guest.link.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
        guest.received.append(buffer, 0, static_cast<std::size_t>(got));
        take_commands(guest);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_orderly(guest.link);
    }
}

void fake_server::machine::take_commands(visitor& guest) {
    while (!guest.received.empty()) {
        std::size_t length = request_length(guest.received);
        if (length == incomplete) {
            return;
        }
        if (length == no_resp) {
            length = guest.received.size();
        }  // a TLS hello counts as one command
        const seen_command command{guest.number, command_words(guest.received.substr(0, length))};
        guest.received.erase(0, length);
        commands.push_back(command);
        auto next = answer ? answer(command) : fake_answer{};
        const auto due = steady::now() + next.after;
        guest.answers.push_back({std::move(next), due});
    }
}

void fake_server::machine::speak(visitor& guest) {
    if (!flush(guest)) {
        return;
    }
    while (!guest.answers.empty() && guest.answers.front().due <= steady::now()) {
        auto [what, due] = std::move(guest.answers.front());
        guest.answers.pop_front();
        const ending then = what.then;
        guest.outgoing = std::move(what.bytes);
        if (!flush(guest)) {  // the rest goes when the client reads on
            guest.answers.push_front({{.bytes = {}, .then = then}, due});
            return;
        }
        if (then == ending::close) {
            return close_orderly(guest.link);
        }
        if (then == ending::reset) {
            return close_by_reset(guest.link);
        }
    }
}

// True when everything is gone.
bool fake_server::machine::flush(visitor& guest) {
    while (!guest.outgoing.empty()) {
        const ssize_t sent = ::send(guest.link.get(), guest.outgoing.data(), guest.outgoing.size(), MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            guest.full = true;
            return false;
        }
        if (sent < 0) {
            guest.outgoing.clear();  // the client has gone, as reading will show
            return true;
        }
        guest.outgoing.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
}

fake_server::fake_server(answering answer, transport listen)
    : machine_{std::make_unique<machine>(std::move(answer), std::nullopt, listen)} {}

fake_server::fake_server(std::vector<std::string> canned)
    : fake_server{[canned = std::move(canned), next = std::size_t{0}](const seen_command&) mutable {
          const std::size_t index = std::min(next++, canned.size() - 1);
          return fake_answer{.bytes = canned.at(index)};
      }} {}

fake_server::fake_server(std::unique_ptr<machine> made) : machine_{std::move(made)} {}
fake_server::~fake_server() = default;

std::unique_ptr<fake_server> fake_server::closing_after_accept(ending how) { return greeting({.then = how}); }

std::unique_ptr<fake_server> fake_server::greeting(fake_answer first) {
    auto made = std::make_unique<machine>(never_answering(), std::move(first), transport::tcp);
    return std::unique_ptr<fake_server>{new fake_server{std::move(made)}};
}

void fake_server::answer_with(answering answer) {
    machine_->run([&] { machine_->answer = std::move(answer); });
}

std::string fake_server::url() const { return machine_->where.url(); }
std::string fake_server::tls_url() const { return "rediss://" + machine_->where.text(); }
address fake_server::where() const { return machine_->where; }

std::size_t fake_server::connections_seen() const {
    return machine_->run([this] { return machine_->connections_seen; });
}

std::size_t fake_server::connections_open() const {
    return machine_->run([this] { return machine_->connections_open(); });
}

std::vector<seen_command> fake_server::commands() const {
    return machine_->run([this] { return machine_->commands; });
}

std::size_t fake_server::commands(const command_match& match) const {
    return machine_->run(
        [&] { return static_cast<std::size_t>(std::ranges::count_if(machine_->commands, std::cref(match))); });
}

}  // namespace tranca::testing
