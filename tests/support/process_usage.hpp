// process_usage: what this process occupies, to find what is never given back.
//
//     const auto before = open_descriptors();
//     work();
//     EXPECT_EQ(open_descriptors(), before);
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tranca::testing {

[[nodiscard]] inline std::size_t entries_of(const char* directory) {
    const std::filesystem::directory_iterator all{directory};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

[[nodiscard]] inline std::size_t open_descriptors() {
    return entries_of("/proc/self/fd") - 1;
}  // without the one that reads
[[nodiscard]] inline std::size_t threads() { return entries_of("/proc/self/task"); }

[[nodiscard]] inline std::size_t resident_bytes() {
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages >> pages;  // the second number
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace tranca::testing
