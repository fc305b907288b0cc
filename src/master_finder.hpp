#pragma once

// Finds the master by asking sentinels, and remembers it until somebody has reason to doubt.
//
//     master_finder finder{sentinel_endpoint::parse("redis-sentinel://s1,s2/mymaster")};
//     auto found = finder.connect();                    // a connection to a server that says it is the master
//     finder.doubt(found.redis.where());                // READONLY, a lost connection: the next connect() asks again
//
// Promises: every connection it makes has said by ROLE that it leads to a master (unless its account may not ask); one
// search at a time, the others wait for its answer; a search that failed is not repeated for 50 ms, nor is one that
// succeeded, unless the server found could not be used. Each sentinel has its own time limit, and each address they name is
// tried once a search. What is known is checked with one sentinel every `check_every`, by one thread, while the others go on.
// Does not promise that the sentinels are right, or that the master is still one when it is used.
// Thread safety: full. Belongs to one process: a child makes its own.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tranca/connection.hpp>
#include <tranca/error.hpp>
#include <tranca/sentinel_endpoint.hpp>
#include <tranca/time.hpp>

namespace tranca {

class master_finder {
public:
    explicit master_finder(const sentinel_endpoint& where);

    struct found {
        connection redis;
        bool moved;  // to another address than before
    };

    /// Throws connect_failed when no master can be had now, unknown_master when there is none of this name, and what the
    /// master says to the account. Bounded by all sentinels' limits and the server's connect_timeout.
    [[nodiscard]] found connect();

    /// Has the sentinels asked anew before the next connection, if `where` is what they named last.
    void doubt(const endpoint& where) noexcept;

    /// False: somebody doubted what is known, or nothing is known yet. Once in `check_every` this asks a sentinel.
    [[nodiscard]] bool is_sure() noexcept;

    /// Does this lead to the master that is known?
    [[nodiscard]] bool leads_to_master(const connection& redis) const noexcept;

    /// What the sentinels named last; nothing known yet: without a host.
    [[nodiscard]] endpoint known() const;

private:
    class search;
    enum class check { same, another, unheard };

    [[nodiscard]] bool wait_or_begin();
    [[nodiscard]] connection search_and_tell();
    void learn(const endpoint& master, const sentinel_endpoint::address& told_by);
    void fail(const error& failure) noexcept;
    void distrust(const endpoint& where) noexcept;
    [[nodiscard]] check ask_again(const sentinel_endpoint::address& sentinel, const endpoint& known) noexcept;
    void hear(check answer) noexcept;

    const sentinel_endpoint& where_;

    mutable std::mutex mutex_;  // guards all below; never held during I/O
    std::condition_variable searched_;
    std::vector<sentinel_endpoint::address> order_;
    endpoint known_;
    bool sure_ = false;
    bool searching_ = false;
    std::uint64_t searches_ = 0;  // that ended
    clock::time_point ended_ = clock::time_point::min();
    std::optional<error> failure_;  // of the last one
    bool checking_ = false;
    clock::time_point next_check_ = clock::time_point::max();

    std::optional<connection> line_;  // to a sentinel; of the thread that has set checking_
};

}  // namespace tranca
