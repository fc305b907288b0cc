#pragma once

// One connection to one Redis server, used by one thread at a time.
//
//     tranca::connection redis{tranca::endpoint::parse("redis://localhost")};
//     auto answer = redis.command(tranca::request{"GET", "a"});
//     auto both   = redis.pipeline(tranca::request{"GET", "a"}.add("GET", "b"));
//
// Promises: every call ends within its time limit, also while signals arrive, the server hangs, closes, or sends garbage.
// After a transport error or a time-out the connection is poisoned for good: a late answer is never taken for the next
// one. No SIGPIPE reaches the process, whose own handling of it is not touched. Account, database and name are set up
// again on every new connection. In a child after fork() it does nothing.
// Does not promise to reconnect: that is `client`. Looking up a host name may block for as long as the system's resolver
// does.
// Thread safety: none; one user at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tranca/endpoint.hpp>
#include <tranca/error.hpp>
#include <tranca/interrupt.hpp>
#include <tranca/redirection.hpp>
#include <tranca/reply.hpp>
#include <tranca/request.hpp>
#include <tranca/server_features.hpp>

namespace tranca {

struct stream_failure;
class exchange_hook;

/// How a wait for a reply ended.
enum class arrival { ready, timed_out, interrupted };

/// A connected, authenticated socket that speaks the Redis protocol.
class connection {
public:
    /// Connects, starts TLS, and sends AUTH, SELECT and CLIENT SETNAME as the endpoint asks, in one round trip.
    /// Throws connect_failed, tls_failed, authentication, or what the server answered.
    explicit connection(const endpoint& where);

    connection(connection&&) noexcept;
    connection& operator=(connection&&) noexcept;
    ~connection();

    /// Sends one command and returns its reply; an error reply is returned as such. One round trip.
    /// `deadline`: when to give up; default: command_timeout from now. Throws timeout, connection_lost, protocol;
    /// invalid_argument, before anything is sent, for anything but one command and while replies to a send() are awaited.
    [[nodiscard]] reply exchange(const request& command, std::optional<clock::time_point> deadline = {});

    /// The same, but an error reply is thrown, with the command, its key and the server's text. One round trip.
    reply command(const request& command, std::optional<clock::time_point> deadline = {});

    /// Sends several commands in one write and returns as many replies; error replies are returned. One round trip.
    [[nodiscard]] std::vector<reply> pipeline(const request& commands, std::optional<clock::time_point> deadline = {});

    /// Runs the commands between MULTI and EXEC and returns EXEC's array (nil if a watched key changed). An error reply
    /// anywhere is thrown. One round trip.
    [[nodiscard]] reply transaction(const request& commands, std::optional<clock::time_point> deadline = {});

    /// Sends without waiting for an answer; each command needs a receive() of its own later.
    void send(const request& commands, std::optional<clock::time_point> deadline = {});

    /// The next reply to what was sent.
    [[nodiscard]] reply receive(std::optional<clock::time_point> deadline = {});

    /// Waits until something of the next reply is there, or the connection has failed; then receive(). Unlike a receive()
    /// that times out, this leaves the connection as it was.
    [[nodiscard]] arrival await_reply(clock::time_point deadline, const interrupt& cut) noexcept;

    /// For poll() over several of them: the socket, and whether something of the next reply was read already. No I/O.
    [[nodiscard]] int descriptor() const noexcept;
    [[nodiscard]] bool has_bytes() const noexcept;

    /// Told how a posted command went; nullptr: no answer came. Must not throw.
    using hearer = std::function<void(const reply*)>;

    /// Sends one command and reads its answer with the next use of the connection, or at its end. No round trip of its own.
    void post(const request& command, hearer heard);

    /// What the server can do. The first call asks it: one round trip; throws as exchange(). An error reply means nothing.
    const server_features& features(std::optional<clock::time_point> deadline = {});

    /// The server's number of this connection, for CLIENT UNBLOCK, and our address as the server sees it, once
    /// remember_id() told them. Other servers count too: only both together mean this connection. No I/O.
    [[nodiscard]] std::optional<std::int64_t> id() const noexcept;
    [[nodiscard]] const std::string& address() const noexcept;
    void remember_id(std::int64_t id, std::string address = {}) noexcept;

    /// The node of a Cluster that the last MOVED or ASK on this connection named. No I/O.
    [[nodiscard]] const std::optional<redirection>& redirected() const noexcept;

    /// From now on, or no more: sends ASKING before each command, and keeps its answers to itself; before MULTI only, where there
    /// is one. Not while replies are awaited, and not for post(). No I/O.
    void ask_first(bool on) noexcept;
    [[nodiscard]] bool asks_first() const noexcept;

    /// How many replies to send() are still to come. No I/O.
    [[nodiscard]] std::size_t awaited() const noexcept;

    /// False for ever after a transport error, a time-out or retire(). No I/O.
    [[nodiscard]] bool usable() const noexcept;

    /// True after a transport error or a time-out, and once the server has said that it is not the one to talk to: demoted,
    /// loading, without its master, or refusing. Not after retire(). No I/O.
    [[nodiscard]] bool failed() const noexcept;

    /// True if an idle connection is of no more use: closed by the server, with bytes nobody asked for, or with replies
    /// still to come. Does not wait.
    [[nodiscard]] bool stale() const noexcept;

    /// Makes it unusable: the server behind it is no longer the one to talk to.
    void retire() noexcept;

    [[nodiscard]] const endpoint& where() const noexcept;

    /// Connects and sends the handshake and `last` in a single write, without waiting in between, so that even a frozen
    /// server finds it when it goes on. Returns the answers to `last` if they come within `budget`, or else none; never throws.
    /// For undoing a command whose outcome is unknown.
    [[nodiscard]] static std::vector<reply> send_last_word(const endpoint& where, const request& last,
                                                           milliseconds budget) noexcept;

private:
    struct parts;

    // When a wait ends, and whether that is the usual limit counted from now on, for which the kernel has a timer.
    struct patience {
        clock::time_point until;
        bool usual;
    };

    connection(const endpoint& where, clock::time_point deadline);
    [[noreturn]] void fail(const stream_failure& failure, const std::string& operation, effect outcome);
    [[noreturn]] void refuse_to_work(const std::string& operation) const;
    void require_nothing_awaited(const request& commands) const;
    void heed(exchange_hook& hook, const request& commands);
    patience send_request(const request& commands, std::optional<clock::time_point> deadline);
    void retire_if_refused(const reply_view& answer, const request* commands, std::size_t index);
    [[nodiscard]] reply receive_reply(const request* commands, std::size_t index, patience limit);
    [[nodiscard]] std::vector<reply> pipeline_asking_once(const request& commands,
                                                          std::optional<clock::time_point> deadline);
    [[nodiscard]] arrival await_bytes(clock::time_point deadline, const interrupt& cut) const noexcept;
    void hear_permission(clock::time_point until) noexcept;
    void hear_posted(clock::time_point until) noexcept;

    std::unique_ptr<parts> parts_;
};

/// Throws the error that an error reply to the command number `index` of `commands` stands for; returns quietly for any
/// other reply. `outcome`: in doubt where it is one of several, and others did what they were to do. No I/O.
void throw_if_error(const reply_view& answer, const request& commands, const endpoint& where, std::size_t index = 0,
                    effect outcome = effect::none);

}  // namespace tranca
