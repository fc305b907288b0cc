#pragma once

// One wait for one lease, from the first attempt to the grant, the deadline or the error; see waiting.hpp for what it promises.
//
//     return waiter{candidate, deadline, stop}.run();
//
// waiter.cpp asks and hears, waiter_block.cpp sleeps on the server, waiter_recovery.cpp goes on after a failure.
// One thread, one use.

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <tranca/attempt.hpp>
#include <tranca/connection_pool.hpp>
#include <tranca/contender.hpp>
#include <tranca/guard.hpp>
#include <tranca/interrupt.hpp>

namespace tranca {

/// See the top of this file.
class waiter {
public:
    waiter(const std::shared_ptr<contender>& candidate, clock::time_point deadline, const std::stop_token& stop)
        : candidate_(candidate), pool_(candidate->pool()), deadline_(deadline), stop_(stop) {}

    std::optional<guard> run();

private:
    enum class step { granted, again, over, late };
    struct identity {
        std::int64_t id;
        std::string address;
    };

    [[nodiscard]] step next_step();
    void leave_wrong_server();
    void introduce();
    void drop_doubtful();
    [[nodiscard]] step ask(bool woken);
    [[nodiscard]] step block(clock::duration slice);
    [[nodiscard]] step block_then_ask(clock::duration slice);
    [[nodiscard]] step block_and_ask(clock::duration slice);
    [[nodiscard]] step hear(const script_call& call, const reply& answer, clock::time_point sent, bool woken);
    [[nodiscard]] request block_request(clock::duration slice) const;
    void send_block(clock::duration slice, const script_call& call);
    void end_block(clock::time_point sent, clock::duration slice);
    void unblock();
    void leave_blocked();
    std::optional<guard> withdraw();
    void recover(const error& failure);
    [[nodiscard]] bool goes_on_in_cluster(const error& failure);
    void wait_out(const error& outage, bool repeated) const;
    [[nodiscard]] std::string_view about() const noexcept { return candidate_->name().bytes(); }
    [[nodiscard]] clock::duration next_slice();
    [[nodiscard]] bool over() const { return clock::now() >= deadline_ || stopped(); }
    [[nodiscard]] bool stopped() const { return stop_.stop_requested() || pool_.closing().stop_requested(); }

    const std::shared_ptr<contender>& candidate_;
    connection_pool& pool_;
    clock::time_point deadline_;
    const std::stop_token& stop_;

    detour way_;  // in a Cluster
    std::optional<connection_pool::borrowed> line_;
    std::optional<interrupt> cut_;  // made when there is something to wait for
    contender::verdict last_{};
    clock::time_point asked_at_{};      // when what was answered by last_ had been sent
    bool knows_ = false;                // last_ is an answer of this connection
    bool asked_ = false;                // at all
    bool ends_by_itself_ = false;       // the slice: nothing happens at its end, so the server's own timer will do
    bool recovered_ = false;            // from a failure, with no answer since
    bool unheard_ = false;              // a request of ours may have been granted, and nobody has read the answer
    std::optional<identity> doubtful_;  // a connection that may still carry a request of ours
};

}  // namespace tranca
