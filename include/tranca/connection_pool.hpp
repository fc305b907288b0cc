#pragma once

// The idle connections of a client, and what its primitives and guards share with it.
//
//     auto redis = pool->borrow();            // nobody else has this connection until `redis` goes out of scope
//     redis->command(tranca::request{"PING"});
//
// Promises: a borrower has its connection for itself; a connection that failed, was demoted or was closed by the server
// is not handed out again; connections are opened when needed and at most `max_idle_connections` are kept.
// After fork() the child finds an empty pool of its own; the parent's sockets are closed in the child without a byte sent.
// Does not promise a bound on connections in use: there are as many as there are threads inside the library.
// Thread safety: full.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tranca/connection.hpp>
#include <tranca/event.hpp>

namespace tranca {

/// How a client behaves.
struct client_options {
    /// Told of failures that nobody can be thrown at; see event.hpp. May be empty.
    std::function<void(const event&)> on_event{};
    /// Told of everything that happens, failures too; see counters.hpp for one that counts. May be empty.
    std::shared_ptr<event_sink> sink{};
    /// Kept open when idle. More may be open while more threads are at work.
    std::size_t max_idle_connections = 16;
};

/// May a command be sent again when its answer was lost?
enum class resend { safe, unsafe };

/// See the top of this file. Made by `client`; shared by its primitives and guards, which may outlive it.
class connection_pool {
public:
    /// Throws errc::invalid_argument for a bad endpoint. No I/O.
    connection_pool(endpoint where, client_options options);
    ~connection_pool();
    connection_pool(const connection_pool&) = delete;
    connection_pool& operator=(const connection_pool&) = delete;

    /// A connection on loan; goes back when this ends.
    class borrowed {
    public:
        borrowed(connection_pool& owner, connection redis, bool was_idle) noexcept
            : owner_(&owner), redis_(std::move(redis)), was_idle_(was_idle) {}
        borrowed(borrowed&& other) noexcept
            : owner_(std::exchange(other.owner_, nullptr)),
              redis_(std::move(other.redis_)),
              was_idle_(other.was_idle_) {}
        borrowed& operator=(borrowed&&) = delete;
        ~borrowed() {
            if (owner_ != nullptr) owner_->give_back(std::move(redis_));
        }

        connection& operator*() noexcept { return redis_; }
        connection* operator->() noexcept { return &redis_; }

        /// True if it had been idle, so that the server may have closed it in this very moment.
        [[nodiscard]] bool was_idle() const noexcept { return was_idle_; }

    private:
        connection_pool* owner_;
        connection redis_;
        bool was_idle_;
    };

    /// An idle connection the server has not closed, or else a new one (which costs a connect and a handshake).
    [[nodiscard]] borrowed borrow();

    /// Runs `use(connection)` on a borrowed connection; if an idle one turns out to be dead, once more on another - when a
    /// second sending is safe, or nothing of the first was sent.
    template <class Use>
    auto with_connection(resend again, Use&& use) {
        for (bool first = true;; first = false) {
            auto redis = borrow();
            try {
                return use(*redis);
            } catch (const error& failure) {
                const bool broke =
                    failure.reason() == errc::connection_lost && (again == resend::safe || !failure.in_doubt());
                if (!first || !broke || !redis.was_idle()) throw;
            }
            drop_idle();
        }
    }

    /// Requested when the client is destroyed: waits end.
    [[nodiscard]] std::stop_token closing() const;

    /// Ends waits and closes idle connections; guards can still release.
    void close() noexcept;

    /// Tells whoever the options name.
    void report(event::kind what, const key& about, std::string_view detail = {},
                std::chrono::nanoseconds elapsed = {}) const noexcept;

    /// True if successes are counted too; asked before a time is taken for them.
    [[nodiscard]] bool has_sink() const noexcept { return options_.sink != nullptr; }

    [[nodiscard]] const endpoint& where() const noexcept { return where_; }

    /// Something of a higher layer that lives as long as the pool in this process: one T, made when first asked for.
    template <class T>
    [[nodiscard]] std::shared_ptr<T> companion() {
        return std::static_pointer_cast<T>(
            companion(typeid(T), []() -> std::shared_ptr<void> { return std::make_shared<T>(); }));
    }

    /// The largest fencing number this client has seen, on any key. A grant below it would be a step back in time.
    [[nodiscard]] std::uint64_t largest_fence() const noexcept { return largest_fence_.load(); }
    void remember_fence(std::uint64_t seen) noexcept {
        auto known = largest_fence_.load();
        while (known < seen && !largest_fence_.compare_exchange_weak(known, seen)) {
        }
    }

    /// Closes the idle connections: the server behind them has gone.
    void drop_idle() noexcept;

    /// Whether check number `index` (0..63) has been done for this pool; see script.hpp.
    [[nodiscard]] bool checked(unsigned index) const noexcept { return (checked_.load() >> index & 1U) != 0; }
    void set_checked(unsigned index) noexcept { checked_.fetch_or(std::uint64_t{1} << index); }

private:
    struct shelf;

    [[nodiscard]] std::shared_ptr<void> companion(const std::type_info& kind, std::shared_ptr<void> (*make)());
    void give_back(connection redis) noexcept;
    [[nodiscard]] shelf& current_shelf() const;

    endpoint where_;
    client_options options_;
    std::atomic<std::uint64_t> checked_{0};
    std::atomic<std::uint64_t> largest_fence_{0};
    // Replaced as a whole in a child after fork(), whose copy may hold a mutex that no thread is left to unlock.
    mutable std::atomic<shelf*> shelf_;
};

}  // namespace tranca
