#include <tranca/error.hpp>

#include <array>
#include <optional>
#include <utility>

namespace tranca {

namespace {

const char* describe(errc code) noexcept {
    switch (code) {
    case errc::invalid_argument: return "invalid argument";
    case errc::invalid_url: return "invalid URL";
    case errc::connect_failed: return "cannot connect";
    case errc::tls_failed: return "no TLS session";
    case errc::timeout: return "no answer in time";
    case errc::connection_lost: return "connection lost";
    case errc::protocol: return "not the Redis protocol";
    case errc::authentication: return "authentication failed";
    case errc::no_permission: return "permission denied by the server";
    case errc::wrong_type: return "the key holds another type of value";
    case errc::out_of_memory: return "the server is out of memory";
    case errc::read_only: return "the server is a read-only replica";
    case errc::loading: return "the server is loading its data";
    case errc::busy_script: return "the server is busy with a script";
    case errc::try_again: return "the server asks to try again";
    case errc::cluster_down: return "the cluster is down";
    case errc::master_down: return "the replica has lost its master";
    case errc::no_replicas: return "the server has too few replicas";
    case errc::misconf: return "the server cannot write to its disk";
    case errc::moved: return "the key lives on another cluster node";
    case errc::ask: return "the key is moving to another cluster node";
    case errc::no_script: return "the server does not keep the script";
    case errc::unblocked: return "the server changed its role during the wait";
    case errc::max_clients: return "the server has too many clients";
    case errc::server: return "the server answered with an error";
    case errc::stopped: return "stopped";
    case errc::lease_lost: return "the lease was lost";
    case errc::limit_differs: return "another limit is recorded";
    case errc::forked: return "belongs to the parent process";
    case errc::too_few_replicas: return "too few replicas acknowledged it";
    case errc::unknown_master: return "no sentinel knows the master";
    }
    return "unknown error";
}

class category final : public std::error_category {
public:
    const char* name() const noexcept override { return "tranca"; }
    std::string message(int value) const override { return describe(static_cast<errc>(value)); }
};

using namespace std::string_view_literals;

constexpr std::array first_words{
    std::pair{"NOAUTH"sv, errc::authentication},
    std::pair{"WRONGPASS"sv, errc::authentication},
    std::pair{"DENIED"sv, errc::authentication},
    std::pair{"NOPERM"sv, errc::no_permission},
    std::pair{"WRONGTYPE"sv, errc::wrong_type},
    std::pair{"OOM"sv, errc::out_of_memory},
    std::pair{"READONLY"sv, errc::read_only},
    std::pair{"LOADING"sv, errc::loading},
    std::pair{"BUSY"sv, errc::busy_script},
    std::pair{"TRYAGAIN"sv, errc::try_again},
    std::pair{"CLUSTERDOWN"sv, errc::cluster_down},
    std::pair{"MASTERDOWN"sv, errc::master_down},
    std::pair{"NOREPLICAS"sv, errc::no_replicas},
    std::pair{"MISCONF"sv, errc::misconf},
    std::pair{"MOVED"sv, errc::moved},
    std::pair{"ASK"sv, errc::ask},
    std::pair{"NOSCRIPT"sv, errc::no_script},
    std::pair{"UNBLOCKED"sv, errc::unblocked},
};

// Told apart by their text alone: the server gives these the general code "ERR".
constexpr std::array phrases{
    std::pair{"max number of clients"sv, errc::max_clients},
    std::pair{"invalid password"sv, errc::authentication},
    std::pair{"without any password configured"sv, errc::authentication},
    std::pair{"no password is set"sv, errc::authentication},
    // A command refused inside a script: "The user executing the script can't run this command or subcommand" up to
    // Redis 7.0, "ACL failure in script: No permissions to access a key" from 7.2 on and of Valkey.
    std::pair{"user executing the script can't"sv, errc::no_permission},
    std::pair{"ERR ACL failure in script: "sv, errc::no_permission},
};

std::optional<errc> told_by_first_word(std::string_view text) noexcept {
    const auto first_word = text.substr(0, text.find(' '));
    for (const auto& [word, code] : first_words)
        if (first_word == word) return code;
    return std::nullopt;
}

// Replies that pass another one on behind a prefix of their own: "ERR Error running script (...): @user_script:1: -OOM ...",
// "EXECABORT Transaction discarded because of: OOM ...".
bool passes_another_on(std::string_view text) noexcept {
    return text.starts_with("ERR Error running script") || text.starts_with("@user_script") ||
           text.starts_with("EXECABORT");
}

}  // namespace

const std::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

bool is_temporary(errc code) noexcept {
    switch (code) {
    case errc::read_only:
    case errc::loading:
    case errc::busy_script:
    case errc::try_again:
    case errc::cluster_down:
    case errc::master_down:
    case errc::no_replicas:
    case errc::out_of_memory:
    case errc::misconf:
    case errc::unblocked:
    case errc::max_clients: return true;
    default: return false;
    }
}

error::error(errc code, const std::string& text, effect outcome)
    : std::system_error(make_error_code(code), text),
      text_(std::make_shared<const std::string>(text)),
      outcome_(outcome) {}

errc classify_error_reply(std::string_view reply_text) noexcept {
    if (const auto code = told_by_first_word(reply_text)) return *code;
    if (reply_text.starts_with("ERR unknown")) return errc::server;  // goes on with what the caller sent
    for (const auto& [phrase, code] : phrases)
        if (reply_text.find(phrase) != std::string_view::npos) return code;
    if (!passes_another_on(reply_text)) return errc::server;
    constexpr auto separator = ": "sv;
    for (auto at = reply_text.find(separator); at != std::string_view::npos; at = reply_text.find(separator, at + 1)) {
        auto inner = reply_text.substr(at + separator.size());
        if (inner.starts_with('-')) inner.remove_prefix(1);
        if (const auto code = told_by_first_word(inner)) return *code;
    }
    return errc::server;
}

}  // namespace tranca
