// fault: something wrong with a server, until the object goes.
//
//     {
//         const fault full = out_of_memory(server);
//         EXPECT_THROW(lock.acquire(), error);
//     }                                          // the server is well again
//
// What each fault is stands in faults.hpp.
#pragma once

#include <functional>
#include <utility>

namespace tranca::testing {

class [[nodiscard]] fault {
public:
    explicit fault(std::function<void()> undo) : undo_{std::move(undo)} {}
    fault(fault&& other) noexcept : undo_{std::exchange(other.undo_, nullptr)} {}
    fault& operator=(fault&& other) noexcept {
        std::swap(undo_, other.undo_);
        return *this;
    }
    ~fault();  // end(), and a test failure if that throws

    void end();  // undoes it now; returns when the server is well again; a second call does nothing

private:
    std::function<void()> undo_;
};

}  // namespace tranca::testing
