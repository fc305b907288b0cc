#pragma once

// What can go wrong, as one exception type with questions.
//
//     try { lock.acquire(); }
//     catch (const tranca::error& failure) { if (failure.in_doubt()) check_the_ledger(); }
//
// Promises: *busy* is never an exception (it is a value, `std::nullopt`); every text names the operation and the key
// or option it is about; no text ever holds a password or a token.
// Does not promise: that an error undid what the command did. Ask `in_doubt()`.

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace tranca {

/// What failed. Compare with `failure.code() == tranca::errc::timeout`.
enum class errc {
    invalid_argument = 1,  ///< A duration, limit, name or option out of range; nothing was sent.
    invalid_url,           ///< The URL cannot be read; nothing was sent.
    connect_failed,        ///< No connection: refused, unreachable, unknown host, too slow.
    tls_failed,            ///< No trusted TLS session, or TLS is not built in.
    timeout,               ///< Sent, but no answer within the time limit.
    connection_lost,       ///< The connection broke while a command was under way.
    protocol,              ///< The peer does not speak the Redis protocol.
    authentication,        ///< NOAUTH or WRONGPASS.
    no_permission,         ///< NOPERM: the account may not run this command or touch this key.
    wrong_type,            ///< The key holds something that is not ours.
    out_of_memory,         ///< OOM: the server is over its memory limit and may not evict. Temporary.
    read_only,             ///< READONLY: the server is a replica. Temporary.
    loading,               ///< LOADING: the server is reading its data. Temporary.
    busy_script,           ///< BUSY: another client's script runs for too long. Temporary.
    try_again,             ///< TRYAGAIN: keys are being moved between Cluster nodes. Temporary.
    cluster_down,          ///< CLUSTERDOWN. Temporary.
    master_down,           ///< MASTERDOWN. Temporary.
    no_replicas,           ///< NOREPLICAS: fewer replicas than the server insists on. Temporary.
    misconf,               ///< MISCONF: the server cannot write to its disk. Temporary.
    moved,                 ///< MOVED: the key lives on another Cluster node.
    ask,                   ///< ASK: the key is moving to another Cluster node.
    no_script,             ///< NOSCRIPT, even after the whole script was sent.
    unblocked,             ///< UNBLOCKED: the server changed its role while a command was waiting. Temporary.
    max_clients,           ///< The server has no room for another connection. Temporary.
    server,                ///< Any other error reply; its text is in what().
    stopped,               ///< The caller's stop token ended the wait, or the client was destroyed.
    lease_lost,            ///< The lease ended before the work it protected.
    limit_differs,         ///< Another limit is recorded for this semaphore.
    forked,                ///< The object belongs to the parent of this process.
    unknown_master,        ///< The sentinels that answered watch no master of this name.
    too_few_replicas,      ///< A grant was undone since fewer replicas (or disks) than asked for acknowledged it.
};

/// The category of `errc`; its name is "tranca".
[[nodiscard]] const std::error_category& error_category() noexcept;

[[nodiscard]] std::error_code make_error_code(errc code) noexcept;

/// True for server states that pass by themselves: waiting forms retry these until their deadline.
[[nodiscard]] bool is_temporary(errc code) noexcept;

/// May the failed command have taken effect? A type instead of a bool, so that call sites can be read.
enum class effect { none, in_doubt };

/// The failure of an operation. Base of everything the library throws on purpose.
class error : public std::system_error {
public:
    /// `text` says what was being done and to which key or option.
    error(errc code, const std::string& text, effect outcome = effect::none);

    /// True if the command may have taken effect although no answer was seen. No I/O.
    [[nodiscard]] bool in_doubt() const noexcept { return outcome_ == effect::in_doubt; }

    /// The same, in doubt also if `unheard`: an earlier sending of the same command got no answer. Pure.
    [[nodiscard]] error in_doubt_if(bool unheard) const {
        return {reason(), text(), unheard ? effect::in_doubt : outcome_};
    }

    /// True if trying again later can succeed without anybody changing anything. No I/O.
    [[nodiscard]] bool temporary() const noexcept { return is_temporary(reason()); }

    /// What was being done, to which key, and why it failed, without the general words for code(). No I/O.
    [[nodiscard]] const std::string& text() const noexcept { return *text_; }

    /// The same as `code()`, as our own enumeration. No I/O.
    [[nodiscard]] errc reason() const noexcept { return static_cast<errc>(code().value()); }

private:
    std::shared_ptr<const std::string> text_;  // shared, so that copying an exception cannot throw
    effect outcome_;
};

/// Thrown when work ran longer than the lease that protected it.
class lease_lost : public error {
public:
    explicit lease_lost(const std::string& text) : error(errc::lease_lost, text) {}
};

/// The kind of a Redis error reply, told by its first word ("NOPERM this user ..." is no_permission). Pure.
[[nodiscard]] errc classify_error_reply(std::string_view reply_text) noexcept;

}  // namespace tranca

template <>
struct std::is_error_code_enum<tranca::errc> : std::true_type {};
