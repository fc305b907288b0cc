#pragma once

// Objects that a process and the children it forks afterwards see alike.
//
//     shared_array<tally> tallies(workers);      // before the fork
//     tallies[i].listed++;                       // in a child; the parent reads it when the child has ended
//
// Promises: zero-initialised by T's default constructor, unmapped by the destructor of each process. Does not
// promise any synchronisation: T brings atomics, or the parent reads only what ended children wrote.

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <system_error>
#include <type_traits>

namespace tranca::bench {

template <class T>
class shared_array {
    static_assert(std::is_trivially_destructible_v<T>, "children end by _exit: nothing here may need a destructor");

public:
    explicit shared_array(std::size_t size) : size_(size) {
        auto* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::system_error(errno, std::generic_category(), "mmap");
        }
        first_ = static_cast<T*>(memory);
        std::uninitialized_value_construct_n(first_, size_);
    }
    ~shared_array() { ::munmap(first_, bytes()); }
    shared_array(const shared_array&) = delete;
    shared_array& operator=(const shared_array&) = delete;

    [[nodiscard]] T& operator[](std::size_t index) noexcept { return first_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return first_[index]; }
    [[nodiscard]] std::span<T> all() noexcept { return {first_, size_}; }
    [[nodiscard]] std::span<const T> all() const noexcept { return {first_, size_}; }

private:
    // mmap refuses a length of zero.
    [[nodiscard]] std::size_t bytes() const noexcept { return sizeof(T) * (size_ == 0 ? 1 : size_); }

    T* first_{nullptr};
    std::size_t size_;
};

}  // namespace tranca::bench
