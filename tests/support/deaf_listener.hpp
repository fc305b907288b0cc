// deaf_listener: an address where connect() neither succeeds nor fails.
//
//     const deaf_listener nobody;
//     EXPECT_THROW(connection{endpoint::parse(nobody.url() + "?connect_timeout=100ms")}, error);
//
// A listener whose queue is full and who never accepts: the kernel drops what else wants to connect.
#pragma once

#include <string>
#include <vector>

#include "support/address.hpp"
#include "support/socket.hpp"

namespace tranca::testing {

class deaf_listener {
public:
    deaf_listener();

    [[nodiscard]] std::string url() const { return where_.url(); }
    [[nodiscard]] address where() const { return where_; }

private:
    address where_;
    unique_fd listener_;
    std::vector<unique_fd> queue_;
};

}  // namespace tranca::testing
