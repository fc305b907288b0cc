#include <tranca/mutex_options.hpp>

#include <unistd.h>

#include <array>

#include <tranca/error.hpp>

namespace tranca {

namespace {

constexpr std::size_t longest_label = 200;

}  // namespace

std::string process_label() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
    return std::string{host.data()} + ":" + std::to_string(::getpid());
}

std::string label_or_default(const std::string& label) {
    if (label.size() > longest_label)
        throw error(errc::invalid_argument, "label: at most 200 bytes, not " + std::to_string(label.size()));
    return label.empty() ? process_label() : label;
}

}  // namespace tranca
