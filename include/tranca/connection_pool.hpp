#pragma once

// The idle connections of a client, and what its primitives and guards share with it.
//
//     auto redis = pool->borrow();            // nobody else has this connection until `redis` goes out of scope
//     redis->command(tranca::request{"PING"});
//
// Promises: a borrower has its connection for itself; a connection that failed, was demoted or was closed by the server
// is not handed out again; connections are opened when needed and at most `max_idle_connections` are kept.
// By Sentinel: every new connection has said by ROLE that it leads to a master; after READONLY, a time-out or a lost
// connection the sentinels are asked again, by one thread for all; when they name another server, the connections to the old
// one are closed. They are asked once a second besides, by whoever needs a connection then (sentinel_endpoint::check_every),
// since a master that was replaced may not know it yet. Until that question two masters grant; on the side that loses,
// `min-replicas-to-write` bounds for how long.
// In a Cluster: whoever borrows says by a key whose node is meant; connections are kept for each node. The map of slots is asked
// for anew, by one thread for all, after MOVED, CLUSTERDOWN, a time-out or a lost connection.
// After fork() the child finds an empty pool of its own; the parent's sockets are closed in the child without a byte sent.
// Does not promise a bound on connections in use: there are as many as there are threads inside the library.
// Thread safety: full.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tranca/client_options.hpp>
#include <tranca/cluster_endpoint.hpp>
#include <tranca/connection.hpp>
#include <tranca/detour.hpp>
#include <tranca/event.hpp>
#include <tranca/sentinel_endpoint.hpp>

namespace tranca {

/// May a command be sent again when its answer was lost?
enum class resend { safe, unsafe };

/// See the top of this file. Made by `client`; shared by its primitives and guards, which may outlive it.
class connection_pool {
public:
    /// Throws errc::invalid_argument for a bad endpoint. No I/O.
    connection_pool(endpoint where, client_options options);

    /// The same for the master that sentinels name. No I/O.
    connection_pool(sentinel_endpoint where, client_options options);

    /// The same for the nodes of a Cluster. No I/O.
    connection_pool(cluster_endpoint where, client_options options);

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

    /// An idle connection the server has not closed, or else a new one (which costs a connect and a handshake). In a Cluster: to
    /// the node of the key `about`, or where it was sent; without a key, to any.
    [[nodiscard]] borrowed borrow(std::string_view about = {}, const detour& way = {}) {
        return is_cluster() ? borrow_in_cluster(about, way) : borrow_from_server();
    }

    /// To the same server as another one, as far as there are several.
    [[nodiscard]] borrowed borrow_beside(const connection& other);

    /// To this node of a Cluster.
    [[nodiscard]] borrowed borrow_from(const cluster_endpoint::address& node);

    /// A connection of the caller's own, as new ones are made; told the pool with suspect() should it fail. Not in a Cluster, where
    /// it is not known to whom.
    [[nodiscard]] connection connect();

    /// What failed on a connection that is not the pool's may be a reason to look for the master again. No I/O.
    void suspect(const connection& used) noexcept;

    /// In a Cluster: a node says that there is something wrong, so that others may be in some places. No I/O.
    void doubt_map() noexcept;

    /// Is a connection that was kept still to be used? Not if it is stale or, by Sentinel, if it is not sure to lead to the
    /// master, in a Cluster not if it leads to another node than that of the key `about`, unless it was sent there. No I/O but,
    /// now and then, a question to a sentinel.
    [[nodiscard]] bool is_good(const connection& redis, std::string_view about = {}) noexcept;

    /// Runs `use(connection)` on a borrowed connection; if an idle one turns out to be dead, once more on another - when a
    /// second sending is safe, or nothing of the first was sent. What fails then is in doubt if the first was. In a Cluster: at the
    /// node of the key `about`, and where that one sends it; TRYAGAIN and CLUSTERDOWN are borne until `until`, or for
    /// command_timeout.
    template <class Use>
    auto with_connection(resend again, std::string_view about, Use&& use, std::optional<clock::time_point> until = {}) {
        detour way{.until = until};
        bool unheard = false;
        for (bool first = true;;) {
            auto redis = unheard ? borrow_in_doubt(about, way) : borrow(about, way);
            try {
                return use(*redis);
            } catch (const error& found) {
                const auto failure = found.in_doubt_if(unheard);
                if (follow(way, *redis, failure)) continue;
                const bool broke =
                    failure.reason() == errc::connection_lost && (again == resend::safe || !failure.in_doubt());
                if (!first || !broke || !redis.was_idle()) throw failure;
                unheard = failure.in_doubt();
            }
            first = false;
            drop_idle(about);
        }
    }

    /// The same for what is about no key.
    template <class Use>
    auto with_connection(resend again, Use&& use) {
        return with_connection(again, {}, std::forward<Use>(use));
    }

    /// In a Cluster: after MOVED or ASK, where to go on; TRYAGAIN and CLUSTERDOWN are waited out for a moment. False: it is
    /// something else, or has lasted for too long. Throws try_again after too many redirections.
    [[nodiscard]] bool follow(detour& way, connection& used, const error& failure);

    /// The same for MOVED and ASK alone; without a pause.
    [[nodiscard]] bool redirect(detour& way, const connection& used, const error& failure);
    [[nodiscard]] bool redirect(detour& way, const redirection& elsewhere);

    /// Requested when the client is destroyed: waits end.
    [[nodiscard]] std::stop_token closing() const;

    /// Ends waits and closes idle connections; guards can still release.
    void close() noexcept;

    /// Tells whoever the options name; while this thread holds a lease's lock, once it no longer does.
    void report(event::kind what, const key& about, std::string_view detail = {},
                std::chrono::nanoseconds elapsed = {}) const noexcept;

    /// True if successes are counted too; asked before a time is taken for them.
    [[nodiscard]] bool has_sink() const noexcept { return options_.sink != nullptr; }

    /// The settings of its connections. By Sentinel and in a Cluster without host and port: those are server()'s.
    [[nodiscard]] const endpoint& where() const noexcept { return where_; }

    /// Where the server is, as far as is known without asking. By Sentinel: the master found last; in a Cluster: the node of the
    /// key `about`; none yet: without a host.
    [[nodiscard]] endpoint server(std::string_view about = {}) const;

    /// Does it ask sentinels where the server is?
    [[nodiscard]] bool asks_sentinels() const noexcept { return sentinels_.has_value(); }

    /// Is it a Cluster's? Then it matters which key an operation is about.
    [[nodiscard]] bool is_cluster() const noexcept { return cluster_.has_value(); }

    /// May another server take the place of one that is silent?
    [[nodiscard]] bool fails_over() const noexcept { return asks_sentinels() || is_cluster(); }

    /// The nodes of a Cluster that serve slots. Up to a round trip.
    [[nodiscard]] std::vector<cluster_endpoint::address> masters();

    /// True once a server has answered: then the address is right, and what does not answer now may do so again.
    [[nodiscard]] bool was_reached() const noexcept { return reached_.load(std::memory_order_relaxed); }
    void remember_reached() noexcept {
        if (!was_reached()) reached_.store(true, std::memory_order_relaxed);
    }

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

    /// Closes the idle connections: the server behind them has gone. In a Cluster those to the node of the key `about`.
    void drop_idle(std::string_view about = {}) noexcept;

    /// Whether check number `index` (0..63) has been done for this pool; by Sentinel: since the master was found; in a Cluster: at
    /// the node of the key `about`. See script.hpp.
    [[nodiscard]] bool checked(unsigned index, std::string_view about = {}) const noexcept {
        return is_cluster() ? checked_in_cluster(index, about) : (checked_.load() >> index & 1U) != 0;
    }
    void set_checked(unsigned index, std::string_view about = {});

private:
    struct shelf;

    [[nodiscard]] std::shared_ptr<void> companion(const std::type_info& kind, std::shared_ptr<void> (*make)());
    void give_back(connection redis) noexcept;
    void tell(const event& happening) const noexcept;
    [[nodiscard]] shelf& current_shelf() const;
    [[nodiscard]] borrowed borrow_from_server();
    [[nodiscard]] borrowed borrow_in_doubt(std::string_view about, const detour& way);
    [[nodiscard]] borrowed borrow_from_owner(unsigned slot);
    [[nodiscard]] borrowed borrow_from_any();
    [[nodiscard]] borrowed borrow_in_cluster(std::string_view about, const detour& way);
    [[nodiscard]] bool checked_in_cluster(unsigned index, std::string_view about) const noexcept;

    endpoint where_;
    std::optional<sentinel_endpoint> sentinels_;
    std::optional<cluster_endpoint> cluster_;
    client_options options_;
    std::atomic<bool> reached_{false};
    std::atomic<std::uint64_t> checked_{0};
    std::atomic<std::uint64_t> largest_fence_{0};
    // Replaced as a whole in a child after fork(), whose copy may hold a mutex that no thread is left to unlock.
    mutable std::atomic<shelf*> shelf_;
};

}  // namespace tranca
