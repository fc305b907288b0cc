#include "support/account.hpp"

#include <atomic>
#include <utility>

namespace tranca::testing {

account::account(redis_server& server, std::string name, const std::vector<std::string>& rules)
    : server_{&server}, name_{std::move(name)}, password_{"of-" + name_}, deletion_{[&server, user = name_] {
          server.must({"ACL", "DELUSER", user});
      }} {
    command_text words{"ACL", "SETUSER", name_, "reset", "on", ">" + password_};
    words.insert(words.end(), rules.begin(), rules.end());
    server.must(words);
}

std::string account::url() const { return server_->url_as(name_, password_); }

raw_client account::raw() const { return raw_client{server_->tcp(), {.user = name_, .password = password_}}; }

account rights(redis_server& server, const std::vector<std::string>& rules) {
    static std::atomic<int> count{0};
    return account{server, "account-" + std::to_string(++count), rules};
}

account without_scripting(redis_server& server) { return rights(server, {"~*", "&*", "+@all", "-@scripting"}); }

account only_keys(redis_server& server, const std::string& pattern) {
    return rights(server, {"~" + pattern, "&*", "+@all"});
}

account without_channels(redis_server& server) { return rights(server, {"~*", "resetchannels", "+@all"}); }

account without(redis_server& server, const std::vector<std::string>& commands) {
    std::vector<std::string> rules{"~*", "&*", "+@all"};
    for (const auto& command : commands) {
        rules.push_back("-" + command);
    }
    return rights(server, rules);
}

}  // namespace tranca::testing
