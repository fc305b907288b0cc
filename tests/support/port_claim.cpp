#include "support/port_claim.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/socket.hpp"

namespace tranca::testing {
namespace {

using std::filesystem::path;

// Other users run tests here, too.
path folder_of_claims() {
    const auto folder = std::filesystem::temp_directory_path() / "tranca-test-ports";
    std::error_code ignored;
    if (std::filesystem::create_directory(folder, ignored))
        std::filesystem::permissions(folder, std::filesystem::perms::all, ignored);
    return folder;
}

bool is_alive(const path& claim) {
    pid_t owner = 0;
    std::ifstream{claim} >> owner;
    return owner == 0 || ::kill(owner, 0) == 0 || errno == EPERM;  // 0: it is being written
}

}  // namespace

bool claim_port(std::uint16_t port) {
    static const path folder = folder_of_claims();
    const auto claim = folder / std::to_string(port);
    for (int attempt = 0; attempt < 2; ++attempt) {
        const unique_fd made{::open(claim.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666)};
        if (made.get() >= 0) {
            const auto owner = std::to_string(::getpid());
            return ::write(made.get(), owner.data(), owner.size()) > 0;
        }
        if (errno != EEXIST) return true;  // nowhere to write it down: as it was without claims
        if (is_alive(claim)) return false;
        std::filesystem::remove(claim);
    }
    return false;
}

}  // namespace tranca::testing
