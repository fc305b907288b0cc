#include "support/child_process.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <system_error>

namespace tranca::testing {
namespace {

unique_fd new_memory_file() {
    unique_fd fd{::memfd_create("output of a child", MFD_CLOEXEC)};
    if (!fd) {
        throw std::system_error{errno, std::generic_category(), "memfd_create"};
    }
    return fd;
}

bool expectation_failed() {
    const auto* const result = ::testing::UnitTest::GetInstance()->current_test_info();
    return result != nullptr && result->result()->Failed();
}

#if defined(__SANITIZE_THREAD__)
constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
constexpr bool thread_sanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool thread_sanitizer = false;
#endif

// In the child. The thread sanitizer believes that the parent's threads live on here, and refuses a thread of the child
// that gets the stack of one of them; larger stacks are always new ones.
void use_new_stacks() {
    pthread_attr_t attributes;
    std::size_t size = 0;
    if (!thread_sanitizer || ::pthread_getattr_default_np(&attributes) != 0) {
        return;
    }
    ::pthread_attr_getstacksize(&attributes, &size);
    ::pthread_attr_setstacksize(&attributes, size + 1'048'576);
    ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
}

// In the child.
int run(const std::function<int()>& body) noexcept {
    int status = 0;
    const bool failed_before = expectation_failed();
    use_new_stacks();
    try {
        status = body();
        if (!failed_before && expectation_failed()) {
            status = child_process::failed;
        }
    } catch (const std::exception& error) {
        std::cerr << "a child process threw: " << error.what() << '\n';
        status = child_process::threw;
    } catch (...) {
        std::cerr << "a child process threw something\n";
        status = child_process::threw;
    }
    std::cout.flush();
    std::fflush(nullptr);
    return status;
}

}  // namespace

child_process::child_process(std::function<int()> body, child_output where)
    : output_{where == child_output::captured ? new_memory_file() : unique_fd{}} {
    std::cout.flush();  // else the child would say it once more
    std::fflush(nullptr);
    process_ = process::fork([&body, this] {
        if (output_) {
            ::dup2(output_.get(), STDOUT_FILENO);
            ::dup2(output_.get(), STDERR_FILENO);
        }
        return run(body);
    });
}

std::string child_process::text() const {
    struct ::stat facts {};
    if (!output_ || ::fstat(output_.get(), &facts) != 0) {
        return {};
    }
    std::string text(static_cast<std::size_t>(facts.st_size), '\0');
    const ssize_t got = ::pread(output_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

}  // namespace tranca::testing
