// account: an ACL user, deleted (and its connections closed) with the object.
//
//     const account reader{server, "reader", {"~*", "&*", "+@read"}};
//     client redis{reader.url()};
//     EXPECT_TRUE(reader.raw().command({"SET", "k", "v"}).is_error("NOPERM"));
//
// Below stand the accounts that lack one thing.
#pragma once

#include <string>
#include <vector>

#include "support/fault.hpp"
#include "support/redis_server.hpp"

namespace tranca::testing {

class account {
public:
    // Rules as of ACL SETUSER, applied to a user without any right.
    account(redis_server& server, std::string name, const std::vector<std::string>& rules);

    [[nodiscard]] std::string url() const;  // logs in as this user
    [[nodiscard]] raw_client raw() const;
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::string& password() const { return password_; }

private:
    redis_server* server_;
    std::string name_;
    std::string password_;
    fault deletion_;
};

account without_scripting(redis_server& server);  // all but @scripting: can take a lock, cannot give it back
account only_keys(redis_server& server, const std::string& pattern);  // all commands, keys like "app:*" only
account without_channels(redis_server& server);                       // all commands and keys, no PUBLISH or SUBSCRIBE
account without(redis_server& server, const std::vector<std::string>& commands);  // {"client", "info", "hello"}
account rights(redis_server& server, const std::vector<std::string>& rules);      // any: {"~*", "+set", "+get"}

}  // namespace tranca::testing
