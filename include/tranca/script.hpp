#pragma once

// Lua that runs on the server as one step.
//
//     const tranca::repeatable_script& release = tranca::scripts::release_lock();
//     auto answer = tranca::run(*pool, release.call({name}, mine));
//
// Promises: the text goes over the wire once (SCRIPT LOAD), after that its hash; a server that does not know it (restarted,
// flushed, promoted) is sent the whole text once, also in a pipeline; then it is an error, not a loop. The hash is the
// server's own. The type says whether a script may be sent again when its answer was lost.
// Does not promise that a script that failed half-way is rolled back: Redis does not.
// The account needs +evalsha, +eval, +script|load and the commands inside.
// Source: Redis documentation, "Scripting with Lua".

#include <atomic>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tranca/connection_pool.hpp>
#include <tranca/key.hpp>
#include <tranca/reply.hpp>
#include <tranca/request.hpp>

namespace tranca {

class script;

/// One run of a script, ready to be sent.
struct script_call {
    const script* what;
    request command;
    bool has_hash;                      ///< False: made before any server had told the hash.
    std::vector<native_form> native{};  ///< The first of these that the server has is sent instead.
    std::vector<script_call> also{};    ///< Sent in the same write; the answer is then worst_of() all of them.
};

/// The same, of a script whose effect is the same however often it is sent.
struct repeatable_call : script_call {};

/// A Lua text and, once a server has told it, its hash. Lives as long as the process. Thread-safe.
class script {
public:
    explicit script(std::string_view text) noexcept;
    script(const script&) = delete;
    script& operator=(const script&) = delete;

    [[nodiscard]] std::string_view text() const noexcept { return text_; }

    /// A small number of its own, for connection_pool::checked().
    [[nodiscard]] unsigned number() const noexcept { return number_; }

    /// The hash; empty until learn_hash() was called anywhere in this process.
    [[nodiscard]] std::string_view hash() const noexcept {
        const auto* const known = hash_.load(std::memory_order_acquire);
        return known == nullptr ? std::string_view{} : *known;
    }

    /// SCRIPT LOAD, unless the hash is known. Up to one round trip. Throws protocol if what the server tells is no hash.
    void learn_hash(connection& redis, std::optional<clock::time_point> deadline = {}) const;

    /// A call with its keys and other arguments. No I/O.
    template <request_argument... Arguments>
    [[nodiscard]] script_call call(std::initializer_list<std::string_view> keys, const Arguments&... arguments) const {
        const auto known = hash();
        if (keys.size() == 0) throw error(errc::invalid_argument, "a script takes one key at least");
        request command;
        command.add_script("EVALSHA", known, keys, arguments...);
        return {this, std::move(command), !known.empty()};
    }
    template <request_argument... Arguments>
    [[nodiscard]] script_call call(std::span<const std::string> keys, const Arguments&... arguments) const {
        const auto known = hash();
        if (keys.empty()) throw error(errc::invalid_argument, "a script takes one key at least");
        request command;
        command.add_script("EVALSHA", known, keys, arguments...);
        return {this, std::move(command), !known.empty()};
    }

private:
    std::string_view text_;
    unsigned number_;
    mutable std::atomic<const std::string*> hash_{nullptr};
};

/// A script that may be sent again when its answer was lost.
class repeatable_script : public script {
public:
    using script::script;

    template <request_argument... Arguments>
    [[nodiscard]] repeatable_call call(std::initializer_list<std::string_view> keys,
                                       const Arguments&... arguments) const {
        return {script::call(keys, arguments...)};
    }
    template <request_argument... Arguments>
    [[nodiscard]] repeatable_call call(std::span<const std::string> keys, const Arguments&... arguments) const {
        return {script::call(keys, arguments...)};
    }
};

/// Of the answers to several calls that are one operation: the first error, or else what is no number, or else the least
/// number. At least one. Pure.
[[nodiscard]] std::size_t worst_of(std::span<const reply> answers);

/// Of those answers, some of which are errors: in doubt if others are not, for what they stand for is done. Pure.
[[nodiscard]] effect effect_of_parts(std::span<const reply> answers);

/// Runs a script on one connection. Error replies are thrown. One round trip; two more the first time or after NOSCRIPT.
reply run(connection& redis, const script_call& call, std::optional<clock::time_point> deadline = {});

/// What to send on this connection, but for those it has `also`: the native form where there is one, or else the call with
/// its hash; one made before anybody knew the hash is completed in `storage`. Up to one round trip the first time.
[[nodiscard]] const request& request_of(const script_call& call, connection& redis,
                                        std::optional<clock::time_point> deadline, request& storage);

/// The same call with the whole text, for a server that answered NOSCRIPT; without those it has `also`. No I/O.
[[nodiscard]] request by_text(const script_call& call);

/// Is this the answer NOSCRIPT? No I/O.
[[nodiscard]] bool is_unknown_script(const reply_view& answer);

/// Those of which a call consists: itself and those it has `also`. No I/O.
void add_parts(const script_call& call, std::vector<const script_call*>& parts);

/// Runs each of these, without those they have `also`, in one write; error replies are returned, but for NOSCRIPT: those are sent
/// again, whole, after the others have run. One round trip, or two.
[[nodiscard]] std::vector<reply> run_parts(connection& redis, std::span<const script_call* const> parts,
                                           std::optional<clock::time_point> deadline = {});

/// Runs several in one write; error replies are returned, but for NOSCRIPT: those calls are sent again, whole, after the
/// others have run. One round trip, or two.
[[nodiscard]] std::vector<reply> run_all(connection& redis, std::span<const script_call> calls,
                                         std::optional<clock::time_point> deadline = {});

/// Runs a script on a connection of the pool; sent again if an idle connection turns out to be dead, unless its outcome is in
/// doubt then and `again` says not to. In a Cluster: at the node of its first key, and those it has `also` at the nodes of theirs;
/// see connection_pool::with_connection.
reply run(connection_pool& pool, const repeatable_call& call, std::optional<clock::time_point> deadline = {},
          resend again = resend::safe);

}  // namespace tranca
