#pragma once

// What one acquisition of a quorum_mutex holds on its nodes, and what all acquisitions of one quorum_mutex share.
//
//     auto candidate = std::make_shared<tranca::quorum_lease>(core);
//     auto found = candidate->attempt(stop);            // one try, settled on every node that can be reached
//
// On each node: the main key holds `token|fence|label`, {main}:fence the last fence stored less 8, as a mutex has them.
// Requests, decoders and decisions are here and in tally.hpp; the conversation itself is in src/.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <tranca/fence_proposer.hpp>
#include <tranca/gate.hpp>
#include <tranca/lease.hpp>
#include <tranca/quorum_options.hpp>
#include <tranca/tally.hpp>

namespace tranca {

class quorum_lines;
struct last_word;
struct node_answer;
struct owing_connection;

/// What the acquisitions of one quorum_mutex have in common.
struct quorum_core {
    std::vector<std::shared_ptr<connection_pool>> nodes;
    key name;
    quorum_options options;
    lease_clock rules;
    milliseconds time_limit;
    std::size_t needed;  // confirmations, or without fencing grants
    std::string fence_key;
    std::string kind;  // of the leases: the nodes and the options, in one line
    std::shared_ptr<gate> queue;
    std::shared_ptr<fence_proposer> fences;
};

/// Throws errc::invalid_argument for no nodes, the same one twice, or a bad option. No I/O.
[[nodiscard]] std::shared_ptr<const quorum_core> make_quorum_core(std::vector<std::shared_ptr<connection_pool>> nodes,
                                                                  const key& name, const quorum_options& options);

/// What an acquisition cost and how safe it is against nodes that lose their memory.
struct quorum_vote {
    std::size_t nodes = 0;         ///< How many there are.
    std::size_t granted_on = 0;    ///< How many had said yes when it was decided.
    std::size_t confirmed_on = 0;  ///< How many had stored the fencing number by then; without fencing: granted_on.
    int round_trips = 0;           ///< One or two.
};

/// See the top of this file.
class quorum_lease final : public lease {
public:
    /// Still to be won, with a fresh token.
    explicit quorum_lease(std::shared_ptr<const quorum_core> core);
    ~quorum_lease() override;

    /// What came of a try.
    struct verdict {
        bool granted = false;
        milliseconds busy_for{0};  ///< Until enough nodes may be free; zero: the vote was split.
    };

    /// One try; once a lease. What it left on any node is taken back unless it was granted. A stop request ends it in vain.
    /// Throws error if no majority can be asked. One round trip or two, and one to take back.
    [[nodiscard]] verdict attempt(const std::stop_token& stop);

    [[nodiscard]] const quorum_vote& votes() const noexcept { return votes_; }

    [[nodiscard]] const script& release_script() const noexcept override;
    [[nodiscard]] repeatable_call release_call_of(const token& whose) const override;
    [[nodiscard]] bool renews_apart() const noexcept override { return true; }
    [[nodiscard]] grant_level level() const noexcept override { return grant_level::quorum; }

    /// The gate it queued at.
    void queued_at(std::shared_ptr<gate> queue) noexcept { queue_ = std::move(queue); }

private:
    struct findings;

    [[nodiscard]] repeatable_call acquire_call() const;
    [[nodiscard]] repeatable_call raise_call() const;
    [[nodiscard]] repeatable_call extend_call(milliseconds ttl) const override;
    [[nodiscard]] std::int64_t ask(const repeatable_call& call, std::optional<clock::time_point> deadline,
                                   resend again) override;
    void on_end() noexcept override {
        if (queue_) queue_->end(*this);
    }

    void require_rights(findings& found);
    [[nodiscard]] vote vote_of(const node_answer& heard, findings& found);
    [[nodiscard]] tally propose(findings& found, clock::time_point sent);
    [[nodiscard]] tally raise(findings& found);
    [[nodiscard]] bool claim(clock::time_point sent);
    [[nodiscard]] verdict decline(findings& found, const tally& votes, clock::time_point expiry);
    [[nodiscard]] static milliseconds busy_time(findings& found, const tally& votes);
    enum class whom { answering, all };  // to wait for
    [[nodiscard]] bool take_back(clock::time_point expiry, whom waits_for) noexcept;
    [[nodiscard]] bool leave(std::vector<std::optional<owing_connection>>& owing, const last_word& word);
    void learn(std::uint64_t seen) const noexcept;
    [[nodiscard]] std::uint64_t fence_to_propose() const noexcept;

    std::shared_ptr<const quorum_core> core_;
    std::shared_ptr<gate> queue_;
    std::unique_ptr<quorum_lines> lines_;
    std::uint64_t proposed_ = 0;
    quorum_vote votes_;
};

}  // namespace tranca
