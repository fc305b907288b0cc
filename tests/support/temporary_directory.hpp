// temporary_directory: a fresh directory that is removed with the object.
//
//     const temporary_directory home;
//     write_file(home / "settings");
//
// Short path, fit for Unix sockets. A forked copy of the test process removes nothing.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tranca::testing {

class temporary_directory {
public:
    temporary_directory() : path_{make()}, owner_{::getpid()} {}
    temporary_directory(temporary_directory&& other) noexcept
        : path_{std::exchange(other.path_, {})}, owner_{other.owner_} {}
    temporary_directory& operator=(temporary_directory&& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(owner_, other.owner_);
        return *this;
    }
    ~temporary_directory() {
        if (!path_.empty() && owner_ == ::getpid()) {
            std::error_code ignored;
            std::filesystem::remove_all(path_, ignored);
        }
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

private:
    static std::filesystem::path make() {
        std::filesystem::path parent = std::filesystem::temp_directory_path();
        if (parent.native().size() > 60) {
            parent = "/tmp";  // a Unix socket path ends at 107 bytes
        }
        std::string name = (parent / "tranca-XXXXXX").native();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::system_error{errno, std::generic_category(), "mkdtemp " + name};
        }
        return name;
    }

    std::filesystem::path path_;
    pid_t owner_{-1};
};

}  // namespace tranca::testing
