#include "report/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace tranca::bench {

progress::progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void progress::begin(std::string what, double seconds) {
    what_ = std::move(what);
    seconds_ = seconds;
    if (terminal_) {
        tick(0);
    } else if (seconds_ > 0) {
        fmt::print(stderr, "measuring {} for {:.1f} s\n", what_, seconds_);
    } else {
        fmt::print(stderr, "measuring {}\n", what_);
    }
}

void progress::tick(double elapsed) {
    if (!terminal_) return;
    constexpr int width = 20;
    const auto share = seconds_ > 0 ? std::clamp(elapsed / seconds_, 0.0, 1.0) : 0.0;
    const auto filled = static_cast<std::size_t>(share * width);
    const auto bar = std::string(filled, '#') + std::string(width - filled, '.');
    fmt::print(stderr, "\r\033[K[{}] {}", bar, what_);
    std::fflush(stderr);
    shown_ = true;
}

void progress::clear() {
    if (!shown_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
}

}  // namespace tranca::bench
