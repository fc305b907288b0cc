#include <tranca/mutex_options.hpp>

#include <unistd.h>

#include <array>

namespace tranca {

std::string process_label() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
    return std::string{host.data()} + ":" + std::to_string(::getpid());
}

}  // namespace tranca
