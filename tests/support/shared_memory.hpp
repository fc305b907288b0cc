// shared_memory: one object seen by this process and by all children forked later.
//
//     struct counts { std::atomic<std::uint64_t> done{0}; };
//     shared_memory<counts> shared;
//     child_process worker{[&] { shared->done.fetch_add(1); }};
//
// Put nothing in but lock-free atomics and plain data that is written before the fork: a child may die at any
// instruction.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace tranca::testing {

template <typename Object>
class shared_memory {
    static_assert(std::is_trivially_destructible_v<Object>, "a dead child runs no destructor");

public:
    template <typename... Arguments>
    explicit shared_memory(Arguments&&... arguments)
        : object_{::new (map()) Object(std::forward<Arguments>(arguments)...)} {}
    ~shared_memory() { ::munmap(object_, sizeof(Object)); }
    shared_memory(const shared_memory&) = delete;
    shared_memory& operator=(const shared_memory&) = delete;

    [[nodiscard]] Object& operator*() const { return *object_; }
    [[nodiscard]] Object* operator->() const { return object_; }

private:
    static void* map() {
        void* const place = ::mmap(nullptr, sizeof(Object), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED) {
            throw std::system_error{errno, std::generic_category(), "mmap"};
        }
        return place;
    }

    Object* object_;
};

}  // namespace tranca::testing
