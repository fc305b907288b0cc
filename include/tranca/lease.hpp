#pragma once

// What one acquisition holds on the server, and how long its holder may believe so. Shared by a guard and the keeper.
//
//     class lock_lease final : public tranca::lease { ... release_call_of(whose) ... extend_call(ttl) ... };
//     auto candidate = std::make_shared<lock_lease>(pool, name, rules);
//
// Promises: the rules of a lease (design: counted from before the request was sent; extending sets and never creates;
// once lost, lost for good; after a release nothing with this token is sent again but another release). In a child after
// fork() it holds nothing and sends nothing.
// Does not promise that the server agrees at this moment: it may have been flushed. Whoever needs to know asks by extend().
// Thread safety: full; extend() and release() wait for one another, the rest never waits.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include <tranca/connection_pool.hpp>
#include <tranca/grant_level.hpp>
#include <tranca/key.hpp>
#include <tranca/lease_belief.hpp>
#include <tranca/script.hpp>
#include <tranca/token.hpp>

namespace tranca {

/// How a release went.
enum class release_result {
    released,  ///< It was ours and is free now. Answered once per acquisition.
    expired,  ///< There was nothing left to release: the lease had ended, or it was released before. Not what is found by
              ///< a release that is sent again because its answer was lost: that one is `released`.
    taken,    ///< The key is another owner's (or holds something foreign); it was left alone.
    unknown,  ///< No answer in time; the key goes by its ttl at the latest, or by another release(). Or another owner's,
              ///< after an answer was lost: it may have come after that release, or have taken the key before.
};

/// See the top of this file. A primitive derives from it and says which scripts release and extend.
class lease : public std::enable_shared_from_this<lease> {
public:
    /// A lease that nobody holds yet, with a fresh token or with a given one. No I/O.
    lease(std::shared_ptr<connection_pool> pool, key name, const lease_clock& rules,
          const token& owner = token::generate());
    virtual ~lease() = default;
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;

    /// The server granted what was asked for at `sent`. Starts its renewal where the rules say so; does nothing if nothing
    /// is left of it.
    void begin(clock::time_point sent) noexcept;

    [[nodiscard]] bool held() const noexcept;
    [[nodiscard]] bool given_up() const noexcept;
    [[nodiscard]] clock::time_point safe_until() const noexcept;
    [[nodiscard]] std::stop_token lost() noexcept;

    /// Fixed when it begins, unless its primitive can change what it holds.
    [[nodiscard]] virtual std::optional<std::uint64_t> fence() const noexcept { return fence_; }

    /// How many replicas had acknowledged it when it was granted.
    [[nodiscard]] std::int64_t replicas() const noexcept { return replicas_; }
    void acknowledged_by(std::int64_t count) noexcept { replicas_ = count; }
    [[nodiscard]] virtual grant_level level() const noexcept {
        return replicas_ > 0 ? grant_level::replicas : grant_level::one_server;
    }

    /// The numbers of what it holds, where its primitive has them.
    [[nodiscard]] virtual std::span<const std::int64_t> slots() const noexcept { return {}; }

    /// See guard. `ttl` empty: the usual one.
    bool extend(std::optional<milliseconds> ttl);
    release_result release() noexcept;
    void abandon() noexcept;

    /// What a destructor does: release() within what is left of the lease, and nothing if nothing is left.
    void end() noexcept;

    /// What the keeper is to do: look again at `next` (empty: never), and have it renewed now.
    struct checkup {
        std::optional<clock::time_point> next{};
        bool renew = false;
    };

    /// When the keeper is to look at it. No I/O.
    [[nodiscard]] clock::time_point next_check() const noexcept;

    /// For the keeper: marks the lease lost if its time is over.
    [[nodiscard]] checkup check_time(clock::time_point now) noexcept;

    /// For the renewer: until when to wait for an answer to what is sent at `sent`. No I/O.
    [[nodiscard]] clock::time_point renewal_deadline(clock::time_point sent) const noexcept;

    /// For the renewer: what to send. Until finish_renewal() a release waits. Empty: it is not to be renewed now.
    [[nodiscard]] std::optional<repeatable_call> begin_renewal();

    /// The answer to what was sent at `sent`; nullptr: there was none. True: it was renewed, of which tell_renewed() tells the
    /// event sink, once the caller has no other lease's renewal to finish.
    [[nodiscard]] bool finish_renewal(const reply* answer, clock::time_point sent) noexcept;
    void tell_renewed() const noexcept;

    /// Is it to be renewed on a thread of its kind, by renew_apart(), because it lives on more servers than its pool's?
    [[nodiscard]] virtual bool renews_apart() const noexcept { return false; }
    void renew_apart() noexcept;

    /// Tells the guard's listeners and the event sink, once, that it was lost. Runs code of the user.
    void announce_loss() noexcept;

    [[nodiscard]] connection_pool& pool() const noexcept { return *pool_; }
    [[nodiscard]] const key& name() const noexcept { return name_; }
    [[nodiscard]] const token& owner() const noexcept { return owner_; }
    [[nodiscard]] milliseconds usual_ttl() const noexcept { return rules().ttl(); }
    [[nodiscard]] bool is_lost() const noexcept { return state_ == state::lost; }

    /// The script of release_call(), whose rights are tried once a client and server.
    [[nodiscard]] virtual const script& release_script() const noexcept = 0;

    /// Has the keeper tell of its loss even if nobody has asked for lost().
    void ensure_watched() noexcept;

    /// A release has begun, and no answer has ended it.
    [[nodiscard]] bool is_releasing() const noexcept { return state_ == state::releasing; }

    /// Compare and delete; the script answers 1 released, 0 nothing there, -1 another owner's.
    [[nodiscard]] repeatable_call release_call() const { return release_call_of(owner_); }

    /// The same for another token, which need not be anybody's.
    [[nodiscard]] virtual repeatable_call release_call_of(const token& whose) const = 0;

protected:
    /// Compare and set the ttl; the script answers 1 set, 0 nothing there, -1 another owner's.
    [[nodiscard]] virtual repeatable_call extend_call(milliseconds ttl) const = 0;

    /// Has a release_call() or an extend_call() run, and tells what the script answered. Throws error when it cannot be
    /// asked. One round trip. `again`: may it be sent once more by itself, should its answer be lost?
    [[nodiscard]] virtual std::int64_t ask(const repeatable_call& call, std::optional<clock::time_point> deadline,
                                           resend again);

    /// Gives what it holds to another lease of this process instead of releasing it. True: it did.
    virtual bool pass_on() { return false; }

    /// It holds nothing any more. Called with nothing locked.
    virtual void on_end() noexcept {}

    /// May the answer to a release be read later? Not where it takes several scripts.
    [[nodiscard]] virtual bool may_defer() const noexcept { return false; }

    /// Goes on with what another lease of the same token held.
    void carry_on(const lease& previous) noexcept;

    [[nodiscard]] const lease_clock& rules() const noexcept { return belief_.rules(); }

    /// From when on nothing of it is there, whatever was carried out.
    [[nodiscard]] clock::time_point gone_by() const noexcept { return belief_.gone_by(); }

    std::optional<std::uint64_t> fence_;

private:
    class loss_teller;
    enum class state { idle, held, lost, releasing, ended };
    struct answered {
        std::int64_t answer;
        clock::time_point sent;  // of the sending that was answered
        bool was_partial;        // another one before had been answered by some servers, and not by all
        bool was_unheard;        // another one before may have been carried out, and its answer was lost
    };
    struct outcome {
        release_result result = release_result::unknown;
        std::string detail;  // why, if it is not `released`
    };

    [[nodiscard]] bool inherited() const noexcept;
    void start() noexcept;
    void watch_again() noexcept;
    [[nodiscard]] outcome give_up(std::optional<clock::time_point> deadline) noexcept;
    [[nodiscard]] bool handed_on() noexcept;
    [[nodiscard]] bool release_later() noexcept;
    void hear_of_release(const reply* answer) noexcept;
    void ask_to_extend(milliseconds ttl);
    [[nodiscard]] outcome ask_to_release(bool in_time, std::optional<clock::time_point> deadline) noexcept;
    release_result release_within(std::optional<clock::time_point> deadline) noexcept;
    [[nodiscard]] answered repeat_while_temporary(const repeatable_call& call,
                                                  std::optional<clock::time_point> deadline);
    void believe(std::int64_t answer, clock::time_point sent, milliseconds ttl) noexcept;
    [[nodiscard]] bool heed(const std::optional<std::int64_t>& answer, clock::time_point sent,
                            effect unanswered) noexcept;
    void stop_watching() noexcept;
    void lose() noexcept;

    std::int64_t replicas_ = 0;  // set before anybody else has it
    std::shared_ptr<connection_pool> pool_;
    key name_;
    token owner_;
    std::uint64_t generation_;

    std::mutex asking_;             // held while the server is asked
    bool unheard_release_ = false;  // sent in time, and may have been carried out
    std::atomic<state> state_{state::idle};
    lease_belief belief_;  // written while `asking_` is held, or before anybody else has the lease

    std::mutex listening_;  // guards the next two; never held during I/O
    std::optional<std::stop_source> loss_;
    bool watched_ = false;
    std::atomic<bool> told_{false};
};

}  // namespace tranca
