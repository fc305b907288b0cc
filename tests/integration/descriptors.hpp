// descriptors: the sockets this process has open.
//
//     const auto before = open_sockets();
//     { client redis{url}; redis.command("PING"); }
//     EXPECT_EQ(open_sockets(), before);
#pragma once

#include <cstddef>
#include <filesystem>
#include <system_error>

namespace tranca::testing {

[[nodiscard]] inline std::size_t open_sockets() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        std::error_code closed_meanwhile;
        const auto target = std::filesystem::read_symlink(entry.path(), closed_meanwhile).native();
        if (target.starts_with("socket:")) ++count;
    }
    return count;
}

}  // namespace tranca::testing
