#pragma once

// Something that ends a wait on a socket: raised by hand or by stop tokens.
//
//     const tranca::interrupt cut{stop, pool->closing()};
//     if (redis.await_reply(deadline, cut) == tranca::awaited::interrupted) give_up();
//
// Promises: once raised it stays raised until clear(); raising costs one system call and may be done from any thread.
// Does not promise to end a name lookup or a connect.
// Thread safety: raise() and raised() full; clear() for the waiting thread.

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>

#include <tranca/time.hpp>

namespace tranca {

/// A flag with a descriptor that poll() can wait on.
class interrupt {
public:
    /// Raised by raise() only. Throws std::system_error if there is no descriptor left.
    interrupt();

    /// Raised by either token, too.
    interrupt(const std::stop_token& stop, const std::stop_token& closing);
    ~interrupt();
    interrupt(const interrupt&) = delete;
    interrupt& operator=(const interrupt&) = delete;

    void raise() const noexcept;
    void clear() const noexcept;
    [[nodiscard]] bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }

    /// Sleeps until raised (true) or until `when`.
    bool wait_until(clock::time_point when) const noexcept;

    /// For poll(): readable while raised.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    struct raiser {
        const interrupt* raised;
        void operator()() const noexcept { raised->raise(); }
    };

    int descriptor_;
    mutable std::atomic<bool> raised_{false};
    std::optional<std::stop_callback<raiser>> on_stop_;
    std::optional<std::stop_callback<raiser>> on_closing_;
};

}  // namespace tranca
